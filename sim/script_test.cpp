#include "sim/script.h"

#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::sim {
namespace {

std::string whole_text(std::uint64_t script, int tokens) {
    std::string text;
    for (int i = 0; i < tokens; ++i)
        append_word(text, script, i);
    return text;
}

TEST(Script, the_same_number_says_the_same_and_another_says_something_else) {
    EXPECT_EQ(whole_text(7, 50), whole_text(7, 50));
    EXPECT_NE(whole_text(7, 50), whole_text(8, 50));
}

TEST(Script, contains_characters_of_every_length_and_is_valid_utf8) {
    const auto text = whole_text(1, 2000);
    EXPECT_TRUE(base::is_valid_utf8(text));
    for (const auto* const part : {"é", "水", "🙂", "\"", "\\", "\n"})
        EXPECT_THAT(text, testing::HasSubstr(part));
}

TEST(Script, natural_lengths_vary_within_their_bounds) {
    int shortest = 1000;
    int longest = 0;
    for (std::uint64_t script = 0; script < 2000; ++script) {
        const int length = natural_length(script);
        shortest = std::min(shortest, length);
        longest = std::max(longest, length);
    }
    EXPECT_GE(shortest, 8);
    EXPECT_LT(shortest, 20);
    EXPECT_LE(longest, 400);
    EXPECT_GT(longest, 300);
}

TEST(Script, finds_the_first_stop_string_also_across_words) {
    const auto text = whole_text(3, 40);
    const auto stop = text.substr(50, 12);
    const auto found = find_stop(3, 40, {"never said", stop});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->text_bytes, text.find(stop));
    EXPECT_EQ(found->stop, stop);
    EXPECT_GE(whole_text(3, found->tokens).size(), found->text_bytes + stop.size());
    EXPECT_LT(whole_text(3, found->tokens - 1).size(), found->text_bytes + stop.size());
    EXPECT_FALSE(find_stop(3, 40, {"never said"}).has_value());
    EXPECT_FALSE(find_stop(3, 40, {}).has_value());
}

TEST(Narrator, its_deltas_add_up_to_the_text_however_the_steps_fall) {
    for (const int step : {1, 2, 3, 7}) {
        Narrator narrator{5, std::nullopt, 0};
        std::string all;
        int said = 0;
        for (; said < 42; said += step)
            all += narrator.say(step);
        all += narrator.finish();
        EXPECT_EQ(all, whole_text(5, said)) << step;
    }
}

TEST(Narrator, holds_back_what_may_become_a_stop_string_and_cuts_it) {
    const auto text = whole_text(3, 40);
    const auto stop = text.substr(50, 12);
    const auto found = find_stop(3, 40, {stop});
    ASSERT_TRUE(found.has_value());
    Narrator narrator{3, found->text_bytes, stop.size() - 1};
    std::string all;
    for (int i = 0; i < found->tokens; ++i) {
        const std::string delta{narrator.say(1)};
        EXPECT_TRUE(base::is_valid_utf8(delta));
        all += delta;
        EXPECT_LE(all.size(), text.find(stop));
    }
    all += narrator.finish();
    EXPECT_EQ(all, text.substr(0, text.find(stop)));
}

}  // namespace
}  // namespace weir::sim
