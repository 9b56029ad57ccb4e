#include "gateway/request_id.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace weir::gateway {
namespace {

using namespace std::chrono_literals;

constexpr base::WallTime today{std::chrono::sys_days{std::chrono::year{2026} / 11 / 30}};

std::string id_at(base::WallTime now, base::Random& random) {
    const auto id = make_request_id(now, random);
    return {id.data(), id.size()};
}

TEST(RequestId, SortsByTheMillisecond) {
    base::Random random{1};
    std::string before;
    for (const auto later :
         {0ms, 1ms, 2ms, 63ms, 64ms, 65ms, 4096ms, 86'400'000ms, 40'000'000'000ms, 700'000'000'000ms}) {
        const auto id = id_at(today + later, random);
        EXPECT_LT(before, id) << later.count();
        before = id;
    }
}

TEST(RequestId, BeginsWithItsTime) {
    base::Random random{1};
    const auto prefix = [&random](base::WallTime now) { return id_at(now, random).substr(0, 7); };
    EXPECT_EQ(prefix(base::WallTime{}), "-------");
    EXPECT_EQ(prefix(base::WallTime{1ms}), "------0");
    EXPECT_EQ(prefix(today), prefix(today + 999us));
    EXPECT_NE(prefix(today), prefix(today + 1ms));
    // Whatever the clock says, an id is an id.
    EXPECT_EQ(prefix(base::WallTime{-1ns}), "zzzzzzz");
}

TEST(RequestId, HasTheCharactersOfTheContractAndNeverComesTwice) {
    base::Random random{7};
    std::set<std::string> seen;
    for (int i = 0; i < 10'000; ++i) {
        const auto id = id_at(today, random);
        EXPECT_TRUE(std::ranges::all_of(id, [](char c) {
            constexpr std::string_view others = "_-";
            return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || others.contains(c);
        })) << id;
        EXPECT_TRUE(seen.insert(id).second) << id;
    }
}

}  // namespace
}  // namespace weir::gateway
