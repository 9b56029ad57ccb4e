#include "routing/choice.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace weir::routing {
namespace {

ReplicaCandidate replica(std::uint32_t index, std::uint32_t in_flight) {
    return {.pool = 0, .replica = index, .in_flight = in_flight};
}

ReplicaCandidate limited(std::uint32_t order, std::uint32_t in_flight, std::uint32_t limit) {
    return {.pool = order, .replica = in_flight, .order = order, .in_flight = in_flight, .limit = limit};
}

struct ChoiceCase {
    std::string name;
    std::vector<ReplicaCandidate> candidates;
    Dice dice;
    std::uint32_t pool;
    std::uint32_t replica;
    std::string chosen_by;
    bool over_limit = false;
};

TEST(Choice, TakesTheLessBusyOfTwoInTheLowestOpenOrder) {
    const std::vector<ChoiceCase> cases{
        {"one", {replica(3, 5)}, {7, 7, 7}, 0, 3, "only_candidate"},
        {"the less busy of two", {replica(0, 5), replica(1, 4)}, {0, 0, 0}, 0, 1, "power_of_two"},
        {"whichever is drawn first", {replica(0, 5), replica(1, 4)}, {1, 0, 0}, 0, 1, "power_of_two"},
        {"only the drawn ones compete", {replica(0, 5), replica(1, 4), replica(2, 0)}, {0, 0, 0}, 0, 1, "power_of_two"},
        {"the second draw skips the first",
         {replica(0, 5), replica(1, 4), replica(2, 0)},
         {1, 1, 0},
         0,
         2,
         "power_of_two"},
        {"a tie goes by the third number", {replica(0, 4), replica(1, 4)}, {0, 0, 0}, 0, 0, "power_of_two"},
        {"or the other way", {replica(0, 4), replica(1, 4)}, {0, 0, 1}, 0, 1, "power_of_two"},
        {"the lower order wins though it is busier",
         {limited(2, 0, 8), limited(1, 7, 8)},
         {0, 0, 0},
         1,
         7,
         "only_candidate"},
        {"spills when all of the order are full",
         {limited(1, 8, 8), limited(1, 9, 8), limited(2, 3, 8)},
         {0, 0, 0},
         2,
         3,
         "only_candidate"},
        {"a full replica does not compete",
         {limited(1, 8, 8), limited(1, 2, 8), limited(1, 8, 8)},
         {0, 0, 0},
         1,
         2,
         "only_candidate"},
        {"no limit is never full", {limited(1, 1000, 0), limited(2, 0, 8)}, {0, 0, 0}, 1, 1000, "only_candidate"},
        {"all full: the lowest order, and it is said",
         {limited(2, 8, 8), limited(1, 9, 8), limited(1, 8, 8)},
         {0, 0, 0},
         1,
         8,
         "power_of_two",
         true},
    };
    for (const ChoiceCase& each : cases) {
        const auto choice = choose(each.candidates, each.dice);
        ASSERT_TRUE(choice.has_value()) << each.name;
        EXPECT_EQ(choice->pool, each.pool) << each.name;
        EXPECT_EQ(choice->replica, each.replica) << each.name;
        EXPECT_EQ(choice->chosen_by, each.chosen_by) << each.name;
        EXPECT_EQ(choice->over_limit, each.over_limit) << each.name;
        EXPECT_EQ(choice->score, static_cast<double>(choice->in_flight)) << each.name;
    }
}

TEST(Choice, NobodyIsChosenFromNothing) { EXPECT_FALSE(choose({}, {}).has_value()); }

Dice roll(base::Random& random) { return {.first = random(), .second = random(), .tie = random()}; }

// Sends `requests` one after the other and never ends one; returns how many each replica got.
std::vector<std::uint32_t> spread(std::uint32_t replicas, std::uint32_t requests, base::Random& random) {
    std::vector<ReplicaCandidate> candidates;
    candidates.reserve(replicas);
    for (std::uint32_t index = 0; index < replicas; ++index)
        candidates.push_back(replica(index, 0));
    for (std::uint32_t request = 0; request < requests; ++request)
        ++candidates[choose(candidates, roll(random))->replica].in_flight;
    std::vector<std::uint32_t> loads;
    loads.reserve(replicas);
    for (const ReplicaCandidate& each : candidates)
        loads.push_back(each.in_flight);
    return loads;
}

// Theory: the fullest of n is above the mean by about log2(ln n), whatever the load; one random choice would be above
// by about sqrt(2 · mean · ln n), here more than 60.
TEST(Choice, SplitsEvenly) {
    constexpr std::uint64_t seed = 20261130;
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Random random{seed};
    const auto loads = spread(8, 8000, random);
    EXPECT_LE(std::ranges::max(loads), 1000U + 4U);
    EXPECT_GE(std::ranges::min(loads), 1000U - 4U);
}

// Several gateways decide on the same stale numbers: the idle replica must not get all of their requests.
TEST(Choice, DoesNotHerdOnStaleNumbers) {
    constexpr std::uint64_t seed = 4711;
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Random random{seed};
    std::vector<ReplicaCandidate> stale;
    stale.reserve(8);
    for (std::uint32_t index = 0; index < 8; ++index)
        stale.push_back(replica(index, index == 0 ? 0 : 10));
    constexpr int requests = 20000;
    std::vector<int> hits(8, 0);
    for (int request = 0; request < requests; ++request)
        ++hits[choose(stale, roll(random))->replica];
    // The idle one wins when it is drawn: 2 of 8. The others share the rest, 1/7 of 3/4 each.
    EXPECT_NEAR(hits[0] / static_cast<double>(requests), 0.25, 0.015);
    for (std::size_t index = 1; index < hits.size(); ++index)
        EXPECT_NEAR(hits[index] / static_cast<double>(requests), 0.75 / 7, 0.012);
}

TEST(Choice, TiesAreFair) {
    base::Random random{99};
    const std::vector<ReplicaCandidate> equal{replica(0, 3), replica(1, 3), replica(2, 3)};
    constexpr int requests = 30000;
    std::vector<int> hits(3, 0);
    for (int request = 0; request < requests; ++request)
        ++hits[choose(equal, roll(random))->replica];
    for (const int each : hits)
        EXPECT_NEAR(each / static_cast<double>(requests), 1.0 / 3, 0.012);
}

// Every roll that choose() can tell apart, once each.
std::vector<double> counted_shares(const std::vector<ReplicaCandidate>& candidates) {
    std::vector<double> shares(candidates.size());
    constexpr std::uint64_t rolls = 2 * 3 * 4 * 5;  // a multiple of every field's size and of one less
    for (std::uint64_t first = 0; first < rolls; ++first)
        for (std::uint64_t second = 0; second < rolls; ++second)
            for (std::uint64_t tie = 0; tie < 2; ++tie) {
                const auto choice = choose(candidates, {.first = first, .second = second, .tie = tie});
                for (std::size_t i = 0; i < candidates.size(); ++i)
                    if (candidates[i].pool == choice->pool && candidates[i].replica == choice->replica)
                        shares[i] += 1.0 / (2 * rolls * rolls);
            }
    return shares;
}

TEST(Choice, OddsAreThoseOfAllDice) {
    const std::vector<std::vector<ReplicaCandidate>> cases{
        {replica(0, 5)},
        {replica(0, 5), replica(1, 5)},
        {replica(0, 5), replica(1, 4)},
        {replica(0, 5), replica(1, 4), replica(2, 0), replica(3, 4), replica(4, 5)},
        {limited(1, 8, 8), limited(2, 3, 8), limited(3, 0, 8)},
        {limited(1, 8, 8), limited(1, 2, 8), limited(1, 3, 8), limited(2, 0, 8)},
        {limited(2, 8, 8), limited(1, 9, 8), limited(1, 10, 8)},
    };
    for (const auto& candidates : cases) {
        SCOPED_TRACE(&candidates - cases.data());
        const auto told = odds(candidates);
        const auto counted = counted_shares(candidates);
        for (std::size_t i = 0; i < candidates.size(); ++i)
            EXPECT_NEAR(told.shares[i], counted[i], 1e-9) << "candidate " << i;
        const auto choice = choose(candidates, {});
        EXPECT_EQ(told.chosen_by, choice->chosen_by);
        EXPECT_EQ(told.over_limit, choice->over_limit);
    }
    EXPECT_EQ(odds({}).chosen_by, "");
}

}  // namespace
}  // namespace weir::routing
