#include "http/body_assembler.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::http {
namespace {

std::size_t add(BodyAssembler& body, std::string bytes) {
    const auto taken = body.add(bytes);
    EXPECT_TRUE(taken.has_value());
    return taken.value_or(0);
}

TEST(BodyAssembler, TakesExactlyTheAnnouncedLength) {
    BodyAssembler body{Framing::length, 5, 100};
    EXPECT_EQ(add(body, "he"), 2U);
    EXPECT_FALSE(body.whole());
    EXPECT_EQ(add(body, "llo, and more"), 3U);
    EXPECT_TRUE(body.whole());
    EXPECT_EQ(add(body, "more"), 0U);
    EXPECT_EQ(body.take(), "hello");
}

TEST(BodyAssembler, TakesChunksToTheirEnd) {
    BodyAssembler body{Framing::chunked, 0, 100};
    EXPECT_EQ(add(body, "2\r\nhe\r\n3\r"), 9U);
    EXPECT_EQ(add(body, "\nllo\r\n0\r\n\r\nGET"), 11U);
    EXPECT_TRUE(body.whole());
    EXPECT_EQ(body.take(), "hello");
}

TEST(BodyAssembler, RefusesAChunkedBodyOverTheLimit) {
    BodyAssembler body{Framing::chunked, 0, 4};
    EXPECT_EQ(add(body, "4\r\nabcd\r\n"), 9U);
    std::string more = "1\r\ne\r\n";
    const auto taken = body.add(more);
    ASSERT_FALSE(taken.has_value());
    EXPECT_EQ(taken.error().fault, Fault::body_too_large);
}

TEST(BodyAssembler, AllocatesForWhatHasComeAndNotForWhatWasAnnounced) {
    constexpr std::size_t announced = 32 * 1024 * 1024;
    BodyAssembler body{Framing::length, announced, announced};
    add(body, std::string(100'000, 'x'));
    EXPECT_LT(body.take().capacity(), 300'000U);
}

TEST(BodyAssembler, LeavesRoomForParsersThatReadAhead) {
    for (const std::size_t size : {0U, 1U, 15U, 16U, 100U, 65'536U, 70'000U}) {
        BodyAssembler body{Framing::length, size, 1'000'000};
        add(body, std::string(size, 'x'));
        const auto text = body.take();
        EXPECT_EQ(text.size(), size);
        EXPECT_GE(text.capacity(), size + 64);
    }
}

}  // namespace
}  // namespace weir::http
