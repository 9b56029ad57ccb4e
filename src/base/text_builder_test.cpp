#include "base/text_builder.h"

#include "base/inline_text.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace weir::base {
namespace {

TEST(TextBuilder, JoinsPiecesAndNumbersUpToItsCapacity) {
    TextBuilder text{26};
    text.add("id=");
    text.add("");
    text.add_number(std::uint64_t{18446744073709551615U});
    text.add_number(0U);
    text.add("ok");
    EXPECT_EQ(std::move(text).take(), "id=184467440737095516150ok");
    EXPECT_EQ(TextBuilder{100}.take(), "");
}

TEST(InlineText, JoinsPiecesAndNumbersUpToItsCapacity) {
    InlineText<9> text;
    EXPECT_EQ(text.view(), "");
    text.add("id=");
    text.add_number(1234U);
    text.add_number(0U);
    text.add("");
    text.add("k");
    EXPECT_EQ(text.view(), "id=12340k");
}

TEST(InlineText, StopsTheProcessWhereThePieceWouldNotFit) {
    InlineText<3> text;
    text.add("ab");
    EXPECT_DEATH(text.add("cd"), "piece.size");
    EXPECT_DEATH(text.add_number(10U), "digits fit");
}

TEST(TextBuilder, StopsTheProcessWhereThePieceWouldNotFit) {
    TextBuilder text{3};
    text.add("ab");
    EXPECT_DEATH(text.add("cd"), "piece.size");
    EXPECT_DEATH(text.add_number(10U), "digits fit");
}

}  // namespace
}  // namespace weir::base
