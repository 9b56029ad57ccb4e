#include "gateway/request_id.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace weir::gateway {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t time_digits = 9;
constexpr base::WallTime today{std::chrono::sys_days{std::chrono::year{2026} / 11 / 30}};

std::string id_at(base::WallTime now, base::Random& random) {
    const auto id = make_request_id(now, random);
    return {id.data(), id.size()};
}

TEST(RequestId, SortsByTheMicrosecond) {
    base::Random random{1};
    std::string before;
    for (const auto later : {0us, 1us, 2us, 63us, 64us, 65us, 4096us, 86'400'000'000us, 2'000'000'000'000'000us}) {
        const auto id = id_at(today + later, random);
        EXPECT_LT(before, id) << later.count();
        before = id;
    }
}

TEST(RequestId, BeginsWithItsTime) {
    base::Random random{1};
    const auto prefix = [&random](base::WallTime now) { return id_at(now, random).substr(0, time_digits); };
    EXPECT_EQ(prefix(base::WallTime{}), "---------");
    EXPECT_EQ(prefix(base::WallTime{1us}), "--------0");
    EXPECT_EQ(prefix(today), prefix(today + 999ns));
    EXPECT_NE(prefix(today), prefix(today + 1us));
    constexpr std::string_view digits = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    for (std::size_t i = 0; i < digits.size(); ++i)
        EXPECT_EQ(prefix(base::WallTime{std::chrono::microseconds{i}}), std::string{"--------"} + digits[i]);
    EXPECT_EQ(prefix(base::WallTime{std::chrono::microseconds{01'02'03'04'05'06}}), "---012345");
    // Whatever the clock says, an id is an id.
    EXPECT_EQ(prefix(base::WallTime{-1ns}), "zzzzzzzzz");
}

TEST(RequestId, HasAllCharactersOfTheContractAndNeverComesTwice) {
    base::Random random{7};
    std::set<std::string> seen;
    std::map<char, int> used;
    for (int i = 0; i < 10'000; ++i) {
        const auto id = id_at(today, random);
        EXPECT_TRUE(std::ranges::all_of(id, [](char c) {
            constexpr std::string_view others = "_-";
            return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || others.contains(c);
        })) << id;
        EXPECT_TRUE(seen.insert(id).second) << id;
        for (std::size_t at = time_digits; at < id.size(); ++at)
            ++used[id[at]];
    }
    for (const auto& [character, times] : used)
        EXPECT_NEAR(times, 15 * 10'000 / 64.0, 300) << character;
    EXPECT_EQ(used.size(), 64U);
}

}  // namespace
}  // namespace weir::gateway
