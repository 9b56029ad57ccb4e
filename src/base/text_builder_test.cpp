#include "base/text_builder.h"

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

TEST(TextBuilder, StopsTheProcessWhereThePieceWouldNotFit) {
    TextBuilder text{3};
    text.add("ab");
    EXPECT_DEATH(text.add("cd"), "piece.size");
}

}  // namespace
}  // namespace weir::base
