#include "gateway/choice_tally.h"

#include <gtest/gtest.h>

namespace weir::gateway {
namespace {

Answer answer_with(std::vector<ChoiceMark> marks) {
    Answer answer;
    for (const auto& mark : marks) {
        if (mark.index >= 64) {
            answer.far_choices.push_back(mark);
            continue;
        }
        answer.seen_choices |= 1ULL << mark.index;
        if (mark.finished) answer.finished_choices |= 1ULL << mark.index;
    }
    return answer;
}

struct Case {
    std::string_view name;
    std::vector<ChoiceMark> marks;
    std::uint64_t wanted;
    bool complete;
};

TEST(ChoiceTally, IsCompleteWhenAllThatWereAskedForHaveFinished) {
    const Case cases[] = {
        {"nothing", {}, 1, false},
        {"one of one", {{0, true}}, 1, true},
        {"none asked for is one", {{0, true}}, 0, true},
        {"one of two", {{0, true}}, 2, false},
        {"the second still runs", {{0, true}, {1, false}}, 1, false},
        {"both", {{1, true}, {0, true}}, 2, true},
        {"a far one still runs", {{0, true}, {64, false}}, 1, false},
        {"a far one finishes", {{0, true}, {64, false}, {64, true}}, 2, true},
        {"a far one finishes twice", {{0, true}, {64, true}, {64, true}}, 3, false},
        {"more than the limit were asked for", {{0, true}}, ~0ULL, false},
        {"indexes beyond the limit share a mark", {{ChoiceTally::limit + 5, true}, {~0ULL, true}}, 1, true},
        {"and one of them is not two", {{ChoiceTally::limit + 5, true}, {~0ULL, true}}, 2, false},
    };
    for (const auto& c : cases) {
        ChoiceTally tally;
        for (const auto& mark : c.marks)
            tally.note(answer_with({mark}));
        EXPECT_EQ(tally.complete(c.wanted), c.complete) << c.name;
    }
}

TEST(ChoiceTally, CountsManyPrompts) {
    ChoiceTally tally;
    for (std::uint64_t i = 0; i < 300; ++i)
        tally.note(answer_with({{i, false}}));
    for (std::uint64_t i = 0; i < 300; ++i) {
        EXPECT_FALSE(tally.complete(300)) << i;
        tally.note(answer_with({{i, true}}));
    }
    EXPECT_TRUE(tally.complete(300));
    EXPECT_FALSE(tally.complete(301));
}

}  // namespace
}  // namespace weir::gateway
