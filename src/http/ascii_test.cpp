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

// Every byte at every place of values around the size that is checked at once, among neighbours of every kind.
TEST(Ascii, ChecksAWholeValueAsItChecksEachByte) {
    for (const char neighbour : {'a', '\t', ' ', '\x80', '\xff'}) {
        for (std::size_t size = 1; size < 20; ++size) {
            for (std::size_t at = 0; at < size; ++at) {
                for (unsigned code = 0; code < 256; ++code) {
                    std::string text(size, neighbour);
                    text[at] = static_cast<char>(code);
                    ASSERT_EQ(count_value_chars(text), is_value_char(text[at]) ? size : at)
                        << code << ' ' << at << ' ' << size;
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

TEST(Ascii, AMediaTypeHasNoCaseAndMayHaveParameters) {
    EXPECT_TRUE(media_type_is("Text/Event-Stream ; charset=utf-8", "text/event-stream"));
    EXPECT_TRUE(media_type_is("application/json", "application/json"));
    EXPECT_FALSE(media_type_is("application/jsonl", "application/json"));
    EXPECT_FALSE(media_type_is("", "application/json"));
}

}  // namespace
}  // namespace weir::http
