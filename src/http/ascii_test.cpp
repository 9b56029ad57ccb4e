#include "http/ascii.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::http {
namespace {

TEST(Ascii, AllowsInAValueWhatTheStandardAllows) {
    for (unsigned code = 0; code < 256; ++code) {
        const bool allowed = code == '\t' || (code >= 0x20 && code != 0x7f);
        EXPECT_EQ(is_value_char(static_cast<char>(code)), allowed) << code;
    }
}

// Every byte at every place of texts around the size that is looked at at once, among neighbours of every kind.
TEST(Ascii, CountsARunAsItLooksAtEachByte) {
    struct Class {
        std::size_t (*count)(std::string_view);
        bool (*holds)(char);
        std::string_view neighbours;
    };
    const Class classes[] = {{count_value_chars, is_value_char, "a\t \x80\xff"},
                             {count_token_chars, is_token_char, "aZ-0_"},
                             {count_target_chars, is_target_char, "zA/9%"},
                             {count_host_chars, is_host_char, "b.:-["}};
    for (const auto& [count, holds, neighbours] : classes) {
        for (const char neighbour : neighbours) {
            for (std::size_t size = 1; size < 36; size += size < 15 || size > 30 ? 1 : 3) {
                for (std::size_t at = 0; at < size; ++at) {
                    for (unsigned code = 0; code < 256; ++code) {
                        std::string text(size, neighbour);
                        text[at] = static_cast<char>(code);
                        ASSERT_EQ(count(text), holds(text[at]) ? size : at) << code << ' ' << at << ' ' << size;
                    }
                }
            }
        }
    }
    EXPECT_TRUE(are_value_chars(""));
}

TEST(Ascii, TrimsBlanksAndTabsOnly) {
    EXPECT_EQ(trim_blanks(" \t a b\t "), "a b");
    EXPECT_EQ(trim_blanks(" \t "), "");
    EXPECT_EQ(trim_blanks(""), "");
    EXPECT_EQ(trim_blanks("\va"), "\va");
}

TEST(Ascii, ComparesLettersWithoutCase) {
    EXPECT_TRUE(equals_ignoring_case("Content-Length", "cONTENT-lENGTH"));
    EXPECT_FALSE(equals_ignoring_case("Content-Length", "Content-Lengt"));
    EXPECT_FALSE(equals_ignoring_case("a@", "A`"));
    EXPECT_FALSE(equals_ignoring_case("[", "{"));
}

TEST(Ascii, ComparesEveryByteAtEveryPlaceWithEveryOther) {
    for (const std::size_t size : {1U, 8U, 11U}) {
        for (std::size_t at = 0; at < size; ++at) {
            std::string left(size, 'q');
            std::string right(size, 'Q');
            for (unsigned one = 0; one < 256; ++one) {
                for (unsigned other = 0; other < 256; ++other) {
                    left[at] = static_cast<char>(one);
                    right[at] = static_cast<char>(other);
                    ASSERT_EQ(equals_ignoring_case(left, right), to_lower(left[at]) == to_lower(right[at]))
                        << one << ' ' << other;
                }
            }
        }
    }
}

TEST(Ascii, AMediaTypeHasNoCaseAndMayHaveParameters) {
    EXPECT_TRUE(media_type_is("Text/Event-Stream ; charset=utf-8", "text/event-stream"));
    EXPECT_TRUE(media_type_is("application/json", "application/json"));
    EXPECT_FALSE(media_type_is("application/jsonl", "application/json"));
    EXPECT_FALSE(media_type_is("", "application/json"));
}

}  // namespace
}  // namespace weir::http
