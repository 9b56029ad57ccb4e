#include "ledger/frame.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace weir::ledger {
namespace {

struct alignas(8) Memory {
    std::array<std::byte, 3 * max_frame_bytes> bytes{};
};

std::size_t put(Memory& memory, std::size_t at, std::size_t payload_bytes, std::uint64_t sequence) {
    for (std::size_t i = 0; i < payload_bytes; ++i)
        memory.bytes[at + frame_header_bytes + i] = static_cast<std::byte>(i * 7);
    return publish_frame(memory.bytes.data() + at,
                         {.kind = FrameKind::end, .is_final = 1, .origin = 3, .sequence = sequence, .request = 5},
                         payload_bytes);
}

TEST(Frame, IsReadAsItWasWritten) {
    for (const std::size_t payload : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{500},
                                      max_frame_bytes - frame_header_bytes - 8}) {
        Memory memory;
        const std::size_t stride = put(memory, 0, payload, 9);
        EXPECT_EQ(stride % 8, 0U);
        const auto frame = read_frame(memory.bytes);
        ASSERT_EQ(frame.state, FrameState::whole) << payload;
        EXPECT_EQ(frame.payload.size(), payload);
        EXPECT_EQ(frame.header.sequence, 9U);
        EXPECT_EQ(frame.header.request, 5U);
        EXPECT_EQ(frame.header.origin, 3U);
        EXPECT_EQ(frame.header.kind, FrameKind::end);
        EXPECT_EQ(frame.header.is_final, 1U);
        EXPECT_EQ(read_frame(std::span{memory.bytes}.subspan(stride)).state, FrameState::none);
    }
}

TEST(Frame, BehindIsNothingEvenWhereSomethingWas) {
    Memory memory;
    memory.bytes.fill(std::byte{0xAB});
    const std::size_t stride = put(memory, 0, 40, 1);
    EXPECT_EQ(read_frame(std::span{memory.bytes}.subspan(stride)).state, FrameState::none);
}

TEST(Frame, ACopyIsTheSame) {
    Memory memory;
    Memory other;
    const std::size_t stride = put(memory, 0, 100, 9);
    const auto frame = std::span<const std::byte>{memory.bytes}.first(frame_header_bytes + 100);
    EXPECT_EQ(copy_frame(other.bytes.data(), frame), stride);
    const auto copy = read_frame(other.bytes);
    ASSERT_EQ(copy.state, FrameState::whole);
    EXPECT_EQ(copy.header.sequence, 9U);
}

TEST(Frame, AnotherVersionIsForeign) {
    Memory memory;
    static_cast<void>(publish_frame(memory.bytes.data(), {.version = 77, .kind = FrameKind::begin}, 16));
    EXPECT_EQ(read_frame(memory.bytes).state, FrameState::foreign);
}

TEST(Frame, EveryFlippedBitIsSeen) {
    Memory memory;
    put(memory, 0, 60, 9);
    for (std::size_t bit = 0; bit < (frame_header_bytes + 60) * 8; ++bit) {
        Memory damaged = memory;
        damaged.bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        ASSERT_NE(read_frame(damaged.bytes).state, FrameState::whole) << bit;
    }
}

TEST(Frame, AnyBytesAreReadWithinTheirBounds) {
    base::Random random{base::Random::from_system()};
    for (int round = 0; round < 20'000; ++round) {
        Memory memory;
        const std::size_t room = random.below(200);
        for (std::size_t i = 0; i < room; ++i)
            memory.bytes[i] = static_cast<std::byte>(random.below(256));
        if (random.below(2) == 0) {
            const auto length = static_cast<std::uint32_t>(random.below(300));
            std::memcpy(memory.bytes.data(), &length, sizeof length);
        }
        // A copy of exactly that size, so that ASan sees a step beyond.
        const std::vector<std::byte> exact{memory.bytes.begin(), memory.bytes.begin() + static_cast<long>(room)};
        ASSERT_NE(read_frame(exact).state, FrameState::whole);
    }
}

}  // namespace
}  // namespace weir::ledger
