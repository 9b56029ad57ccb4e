#include "auth/presented_key.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::auth {
namespace {

using Text = std::optional<std::string>;

struct KeyCase {
    std::string name;
    Text authorization;
    Text x_api_key;
    Text expected;
};

std::vector<KeyCase> key_cases() {
    const std::string longest(max_secret_bytes, 'k');
    return {
        {.name = "no header", .authorization = {}, .x_api_key = {}, .expected = {}},
        {.name = "bearer", .authorization = "Bearer sk-1", .x_api_key = {}, .expected = "sk-1"},
        {.name = "the scheme has no case", .authorization = "bEARER sk-1", .x_api_key = {}, .expected = "sk-1"},
        {.name = "several blanks", .authorization = "Bearer   sk-1", .x_api_key = {}, .expected = "sk-1"},
        {.name = "x-api-key", .authorization = {}, .x_api_key = "sk-1", .expected = "sk-1"},
        {.name = "both, equal", .authorization = "Bearer sk-1", .x_api_key = "sk-1", .expected = "sk-1"},
        {.name = "both, different", .authorization = "Bearer sk-1", .x_api_key = "sk-2", .expected = {}},
        {.name = "a good key does not excuse a bad header",
         .authorization = "Basic c2s6",
         .x_api_key = "sk-1",
         .expected = {}},
        {.name = "nor the other way", .authorization = "Bearer sk-1", .x_api_key = "", .expected = {}},
        {.name = "another scheme", .authorization = "Basic sk-1", .x_api_key = {}, .expected = {}},
        {.name = "no scheme", .authorization = "sk-1", .x_api_key = {}, .expected = {}},
        {.name = "no blank", .authorization = "Bearersk-1", .x_api_key = {}, .expected = {}},
        {.name = "a tab is no blank", .authorization = "Bearer\tsk-1", .x_api_key = {}, .expected = {}},
        {.name = "scheme only", .authorization = "Bearer", .x_api_key = {}, .expected = {}},
        {.name = "scheme and blanks", .authorization = "Bearer   ", .x_api_key = {}, .expected = {}},
        {.name = "empty", .authorization = "", .x_api_key = {}, .expected = {}},
        {.name = "empty x-api-key", .authorization = {}, .x_api_key = "", .expected = {}},
        {.name = "two words", .authorization = "Bearer sk-1 sk-2", .x_api_key = {}, .expected = {}},
        {.name = "a blank in x-api-key", .authorization = {}, .x_api_key = "sk 1", .expected = {}},
        {.name = "not ASCII", .authorization = {}, .x_api_key = "sk-\xC3\xA9", .expected = {}},
        {.name = "a NUL byte", .authorization = {}, .x_api_key = std::string{"sk\0x", 4}, .expected = {}},
        {.name = "as long as allowed", .authorization = "Bearer " + longest, .x_api_key = {}, .expected = longest},
        {.name = "one longer", .authorization = "Bearer " + longest + "k", .x_api_key = {}, .expected = {}},
        {.name = "one longer as x-api-key", .authorization = {}, .x_api_key = longest + "k", .expected = {}},
    };
}

TEST(PresentedKey, IsReadFromEitherHeader) {
    for (const KeyCase& each : key_cases()) {
        const auto found = presented_key({.authorization = each.authorization, .x_api_key = each.x_api_key});
        EXPECT_EQ(found.has_value(), each.expected.has_value()) << each.name;
        if (found.has_value() && each.expected.has_value()) {
            EXPECT_EQ(*found, *each.expected) << each.name;
        }
    }
}

}  // namespace
}  // namespace weir::auth
