#include "engine_model/acceptance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace weir::engine_model {
namespace {

const Speculation three_positions{.position_acceptance = {0.84, 0.62, 0.44}, .spread = 0.8};

TEST(Acceptance, the_rates_of_every_request_stay_in_range_and_never_rise) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const Acceptance acceptance{three_positions, seed};
        EXPECT_TRUE(std::ranges::is_sorted(acceptance.rates(), std::greater<>{})) << seed;
        EXPECT_THAT(acceptance.rates(), testing::Each(testing::AllOf(testing::Ge(0.0), testing::Le(1.0)))) << seed;
    }
}

TEST(Acceptance, requests_differ_and_their_mean_is_the_engines_rate) {
    constexpr int requests = 20'000;
    std::vector<double> sums(3, 0.0);
    double lowest = 1;
    double highest = 0;
    for (std::uint64_t seed = 0; seed < requests; ++seed) {
        const Acceptance acceptance{three_positions, seed};
        for (std::size_t i = 0; i < 3; ++i)
            sums[i] += acceptance.rates()[i] / requests;
        lowest = std::min(lowest, acceptance.rates()[1]);
        highest = std::max(highest, acceptance.rates()[1]);
    }
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(sums[i], three_positions.position_acceptance[i], 0.005);
    EXPECT_LT(lowest, 0.40);
    EXPECT_GT(highest, 0.85);
}

TEST(Acceptance, draws_follow_the_rates_at_every_position) {
    Acceptance acceptance{{.position_acceptance = {0.84, 0.62, 0.44}, .spread = 0}, 7};
    constexpr int draws = 50'000;
    std::vector<int> reached(3, 0);
    for (int i = 0; i < draws; ++i) {
        const int accepted = acceptance.draw(3);
        for (std::size_t position = 0; position < static_cast<std::size_t>(accepted); ++position)
            ++reached[position];
    }
    EXPECT_NEAR(reached[0] / double{draws}, 0.84, 0.01);
    EXPECT_NEAR(reached[1] / double{draws}, 0.62, 0.01);
    EXPECT_NEAR(reached[2] / double{draws}, 0.44, 0.01);
}

TEST(Acceptance, certain_and_hopeless_positions_are_exact_and_short_drafts_bound_the_result) {
    Acceptance acceptance{{.position_acceptance = {1.0, 1.0, 0.0}}, 3};
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(acceptance.draw(3), 2);
        EXPECT_EQ(acceptance.draw(1), 1);
        EXPECT_EQ(acceptance.draw(0), 0);
    }
}

}  // namespace
}  // namespace weir::engine_model
