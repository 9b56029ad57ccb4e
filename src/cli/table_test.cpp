#include "cli/table.h"

#include <gtest/gtest.h>

namespace weir::cli {
namespace {

TEST(Table, AlignsByCodePointsAndEndsNoLineWithABlank) {
    Table table{{{"POOL"}, {"N", Align::right}, {"WHY"}}};
    EXPECT_EQ(table.text(), "");
    table.add({"größer", "7", ""});
    table.add({"b", "100", "no"});
    EXPECT_EQ(table.text(),
              "POOL      N  WHY\n"
              "größer    7\n"
              "b       100  no\n");
}

TEST(Table, OtherPeoplesTextCannotMoveTheCursor) {
    EXPECT_EQ(printable("a\x1b[2Jb\nc\x7f"), "a?[2Jb?c?");
    EXPECT_EQ(printable("ok \xff\xfe end"), "ok ?? end");
    EXPECT_EQ(printable("cut \xc3"), "cut ?");
}

}  // namespace
}  // namespace weir::cli
