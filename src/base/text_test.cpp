#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

namespace weir::base {
namespace {

TEST(Text, EditDistanceCountsInsertDeleteReplaceAndSwap) {
    EXPECT_EQ(edit_distance("", ""), 0U);
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("burst", "brust"), 1U);
    EXPECT_EQ(edit_distance("listn", "listen"), 1U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

struct MeantCase {
    std::string_view word;
    std::string_view expected;  // "" = nothing
};

TEST(Text, SuggestsWhatWasProbablyMeantAndNothingFarFetched) {
    constexpr std::array<std::string_view, 6> known{"listen", "limits", "engine", "pool", "order", "tls"};
    const std::array<MeantCase, 8> cases{{{"listn", "listen"},
                                          {"limit", "limits"},
                                          {"ENGINE", "engine"},
                                          {"odrer", "order"},
                                          {"x", ""},
                                          {"completely", ""},
                                          {"", ""},
                                          {"tsl", "tls"}}};
    for (const auto& [word, expected] : cases)
        EXPECT_EQ(did_you_mean(word, known).value_or(""), expected) << word;
    EXPECT_EQ(suggestion("listn", known), "; did you mean listen?");
    EXPECT_EQ(suggestion("zzz", known), "");
}

TEST(Text, DoesNotCompareEnormousWords) {
    const std::string enormous(1'000'000, 'a');
    const std::array<std::string_view, 1> known{enormous};
    EXPECT_FALSE(did_you_mean(enormous, known));
}

TEST(Text, FindsWhereUtf8Ends) {
    EXPECT_TRUE(is_valid_utf8("plain, ä, €, 𝄞"));
    EXPECT_EQ(valid_utf8_prefix("ab\xFFzz"), 2U);
    EXPECT_FALSE(is_valid_utf8("\xC0\xAF"));          // overlong
    EXPECT_FALSE(is_valid_utf8("\xED\xA0\x80"));      // a surrogate
    EXPECT_FALSE(is_valid_utf8("\xF4\x90\x80\x80"));  // above U+10FFFF
    EXPECT_FALSE(is_valid_utf8("\xE2\x82"));          // cut off
}

TEST(Text, QuotesSafely) {
    EXPECT_EQ(quoted("abc"), "'abc'");
    EXPECT_EQ(quoted("a\nb\x1B[31m"), "'a?b?[31m'");
    EXPECT_EQ(quoted("a\xFF"), "'a?'");
    EXPECT_EQ(quoted("abcdef", 4), "'abcd…'");
    EXPECT_EQ(quoted("ää", 3), "'ä…'");  // whole characters only
}

TEST(Text, JoinsForPeople) {
    const std::array<std::string_view, 3> words{"a", "b", "c"};
    EXPECT_EQ(join_or(words), "a, b or c");
    EXPECT_EQ(join_or(std::span{words}.first(1)), "a");
}

TEST(Text, ComparesWithoutCase) {
    EXPECT_TRUE(equals_ignoring_case("Content-Type", "content-type"));
    EXPECT_FALSE(equals_ignoring_case("a", "ab"));
    EXPECT_EQ(to_lower("ABC-Ä"), "abc-Ä");
}

}  // namespace
}  // namespace weir::base
