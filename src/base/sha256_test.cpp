#include "base/sha256.h"

#include "base/hex.h"

#include <gtest/gtest.h>

#include <thread>
#include <unordered_set>
#include <vector>

namespace weir::base {
namespace {

// Vectors of FIPS 180-2, appendix B.
constexpr std::string_view of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::string_view of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr std::string_view of_million = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, MatchesThePublishedVectorsAndReusesItsContext) {
    EXPECT_EQ(to_hex(sha256("")), of_nothing);
    EXPECT_EQ(to_hex(sha256("abc")), of_abc);
    EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))), of_million);
    EXPECT_EQ(to_hex(sha256("abc")), of_abc);
}

TEST(Sha256, WorksFromManyThreads) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([] {
            for (int round = 0; round < 1000; ++round)
                ASSERT_EQ(to_hex(sha256("abc")), of_abc);
        });
}

TEST(Sha256, ReadsHexOfEitherCaseAndExactlyThirtyTwoBytes) {
    const auto digest = sha256_from_hex("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD");
    ASSERT_TRUE(digest);
    EXPECT_TRUE(equal_in_constant_time(*digest, sha256("abc")));
    EXPECT_FALSE(equal_in_constant_time(*digest, sha256("abd")));
    EXPECT_FALSE(sha256_from_hex(of_abc.substr(1)));
    EXPECT_FALSE(sha256_from_hex(std::string(of_abc) + "0"));
    EXPECT_FALSE(sha256_from_hex(std::string(63, '0') + "g"));
}

TEST(Sha256, LastByteMattersInComparison) {
    auto a = sha256("abc");
    auto b = a;
    b.back() ^= 1U;
    EXPECT_FALSE(equal_in_constant_time(a, b));
}

TEST(Sha256, IsAHashTableKey) {
    std::unordered_set<Sha256Digest, Sha256Hash> set{sha256("a"), sha256("b"), sha256("a")};
    EXPECT_EQ(set.size(), 2U);
    EXPECT_TRUE(set.contains(sha256("b")));
}

TEST(Hex, RoundTrips) {
    const std::array<std::uint8_t, 3> bytes{0x00, 0xAB, 0xFF};
    EXPECT_EQ(to_hex(bytes), "00abff");
    std::array<std::uint8_t, 3> back{};
    ASSERT_TRUE(from_hex("00ABff", back));
    EXPECT_EQ(back, bytes);
    EXPECT_FALSE(from_hex("00abf", back));
    EXPECT_FALSE(from_hex("00ab/f", back));
}

}  // namespace
}  // namespace weir::base
