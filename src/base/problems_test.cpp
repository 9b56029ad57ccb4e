#include "base/problems.h"

#include <gtest/gtest.h>

namespace weir::base {
namespace {

TEST(Problems, FormatsWithPositionAndPath) {
    EXPECT_EQ(format({"weir.yaml", 12, 7, "limits.brust", "unknown key; did you mean burst?"}),
              "weir.yaml:12:7: limits.brust: unknown key; did you mean burst?");
}

TEST(Problems, LeavesOutWhatIsNotKnown) {
    EXPECT_EQ(format({"weir.yaml", 0, 0, "", "cannot be read"}), "weir.yaml: cannot be read");
    EXPECT_EQ(format({"weir.yaml", 3, 1, "", "not valid YAML"}), "weir.yaml:3:1: not valid YAML");
}

TEST(Problems, AreSortedByPositionAndKeepArrivalOrderAtEqualOnes) {
    Problems problems;
    problems.add({"f", 10, 1, "c", ""});
    problems.add({"f", 2, 9, "b", "first"});
    problems.add({"f", 2, 9, "b", "second"});
    problems.add({"f", 2, 1, "a", ""});
    EXPECT_EQ(problems.format(), "f:2:1: a: \nf:2:9: b: first\nf:2:9: b: second\nf:10:1: c: \n");
}

TEST(Problems, AreBoundedAndSayHowManyAreLeftOut) {
    Problems problems;
    for (int line = 1; line <= 1003; ++line)
        problems.add({"f", line, 1, "", "bad"});
    EXPECT_EQ(problems.size(), Problems::max_problems);
    EXPECT_EQ(problems.dropped(), 3U);
    EXPECT_TRUE(problems.format().ends_with("and 3 more problems\n"));
}

}  // namespace
}  // namespace weir::base
