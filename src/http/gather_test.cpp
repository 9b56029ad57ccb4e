#include "http/gather.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace weir::http {
namespace {

std::string bytes_of(std::span<const iovec> slices) {
    std::string bytes;
    for (const iovec& slice : slices)
        bytes.append(static_cast<const char*>(slice.iov_base), slice.iov_len);
    return bytes;
}

// What a peer gets when the kernel takes `step` bytes at a time, with a window of `window_size` slices.
std::string sent_in_steps(const Gather::Parts& parts, std::size_t step, std::size_t window_size) {
    std::vector<iovec> window(window_size);
    Gather gather{parts};
    std::string sent;
    while (!gather.done()) {
        const auto bytes = bytes_of(gather.fill(window)).substr(0, step);
        EXPECT_FALSE(bytes.empty());
        sent += bytes;
        gather.advance(bytes.size());
    }
    return sent;
}

TEST(Gather, SendsAllPartsInOrderHoweverLittleTheKernelTakes) {
    const std::array<std::string_view, 4> slices = {"one", "", "two", "three"};
    const Gather::Parts parts{
        .head = "head", .opening = "b\r\n", .slices = slices, .slice_bytes = total_bytes(slices), .closing = "\r\n"};
    for (std::size_t step = 1; step < 30; ++step) {
        for (const std::size_t window : {1U, 2U, 3U, 16U}) {
            EXPECT_EQ(sent_in_steps(parts, step, window), "headb\r\nonetwothree\r\n") << step << ' ' << window;
        }
    }
}

TEST(Gather, DescribesMoreSlicesThanFitInOneWrite) {
    const std::vector<std::string_view> slices(1000, "ab");
    EXPECT_EQ(sent_in_steps({.slices = slices, .slice_bytes = 2000}, 7, 16).size(), 2000U);
    EXPECT_EQ(total_bytes(slices), 2000U);
}

TEST(Gather, IsDoneAtOnceWithoutBytes) {
    const std::array<std::string_view, 2> slices = {"", ""};
    EXPECT_TRUE(Gather{{}}.done());
    EXPECT_TRUE(Gather{{.slices = slices}}.done());
}

}  // namespace
}  // namespace weir::http
