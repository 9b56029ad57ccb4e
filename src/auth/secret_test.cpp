#include "auth/secret.h"

#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <set>
#include <string>

namespace weir::auth {
namespace {

using Bytes = std::array<std::uint8_t, 32>;

TEST(Secret, HasAPrefixAndOneLength) {
    Bytes ones;
    ones.fill(0xFF);
    for (const auto& bytes : {Bytes{}, ones}) {
        const auto secret = make_secret(bytes);
        EXPECT_EQ(secret.size(), 54U);
        EXPECT_TRUE(secret.starts_with("weir_"));
        for (const char c : secret.substr(5))
            EXPECT_NE(std::isalnum(static_cast<unsigned char>(c)), 0) << secret;
    }
}

// By independent arithmetic: 2^256 - 1 and 1 in base 62.
TEST(Secret, WritesItsBitsInBase62) {
    Bytes ones;
    ones.fill(0xFF);
    EXPECT_EQ(make_secret(ones).substr(5, 43), "yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1");
    Bytes one{};
    one[31] = 1;
    EXPECT_EQ(make_secret(one).substr(5, 43), std::string(42, '0') + "1");
}

TEST(Secret, EndsWithAChecksumOfTheRest) {
    const auto secret = make_secret(Bytes{});
    EXPECT_EQ(secret.substr(48), "3DACpJ") << "the first four bytes of the SHA-256 of what is before, in base 62";
}

TEST(Secret, EveryBitCounts) {
    std::set<std::string> secrets;
    for (std::size_t bit = 0; bit < 256; ++bit) {
        Bytes bytes{};
        bytes[bit / 8] = static_cast<std::uint8_t>(1U << (bit % 8));
        secrets.insert(make_secret(bytes));
    }
    EXPECT_EQ(secrets.size(), 256U);
}

}  // namespace
}  // namespace weir::auth
