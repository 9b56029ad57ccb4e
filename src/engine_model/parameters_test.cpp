#include "engine_model/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace weir::engine_model {
namespace {

using namespace std::chrono_literals;

Parameters valid() {
    Parameters p;
    p.speculation.position_acceptance = {0.8, 0.5};
    p.cost = {.launch = 2ms, .weights = 16ms, .kv_ns_per_token = 10, .compute_ns_per_token = 1000};
    return p;
}

struct BadParameters {
    std::string name;
    std::function<void(Parameters&)> change;
    std::string named;  // in the message
};

TEST(Parameters, a_valid_set_is_accepted) { EXPECT_TRUE(check(valid()).has_value()); }

TEST(Parameters, each_member_out_of_range_is_refused_by_name) {
    const std::vector<BadParameters> cases{
        {"no sequence", [](Parameters& p) { p.max_running = 0; }, "max_running"},
        {"budget below a verify step", [](Parameters& p) { p.step_token_budget = 2; }, "step_token_budget"},
        {"no context", [](Parameters& p) { p.context_tokens = 1; }, "context_tokens"},
        {"empty block", [](Parameters& p) { p.block_tokens = 0; }, "block_tokens"},
        {"cache below one context", [](Parameters& p) { p.kv_blocks = 2047; }, "kv_blocks"},
        {"rising acceptance", [](Parameters& p) { p.speculation.position_acceptance = {0.5, 0.6}; },
         "position_acceptance"},
        {"rate above one", [](Parameters& p) { p.speculation.position_acceptance = {1.1}; }, "position_acceptance"},
        {"too many positions", [](Parameters& p) { p.speculation.position_acceptance.assign(65, 0.1); },
         "position_acceptance"},
        {"spread above one", [](Parameters& p) { p.speculation.spread = 1.5; }, "spread"},
        {"negative price", [](Parameters& p) { p.cost.kv_ns_per_token = -1; }, "kv_ns_per_token"},
        {"free steps", [](Parameters& p) { p.cost.launch = p.cost.weights = 0ns; }, "launch"},
    };
    for (const auto& one : cases) {
        auto parameters = valid();
        one.change(parameters);
        const auto status = check(parameters);
        ASSERT_FALSE(status.has_value()) << one.name;
        EXPECT_THAT(status.error().message(), testing::HasSubstr(one.named)) << one.name;
    }
}

TEST(Parameters, mean_accepted_length_counts_the_bonus_token) {
    EXPECT_DOUBLE_EQ(valid().speculation.mean_accepted_length(), 2.3);
    EXPECT_DOUBLE_EQ(Speculation{}.mean_accepted_length(), 1.0);
}

TEST(StepTime, is_bound_by_memory_until_arithmetic_takes_longer) {
    const auto p = valid();
    const Speculation none;
    EXPECT_EQ(step_time(p.cost, none, {.tokens = 1}), 18ms);
    EXPECT_EQ(step_time(p.cost, none, {.tokens = 16'000}), 18ms);
    EXPECT_EQ(step_time(p.cost, none, {.tokens = 32'000}), 34ms);
    EXPECT_EQ(step_time(p.cost, none, {.tokens = 1, .context_tokens = 100'000}), 19ms);
}

TEST(StepTime, drafting_adds_its_passes_its_tokens_and_the_overhead_of_verifying) {
    auto p = valid();
    p.cost.verify_overhead = 1ms;
    p.cost.draft_launch = 500us;
    p.cost.draft_ns_per_token = 1'000;
    EXPECT_EQ(step_time(p.cost, p.speculation, {.tokens = 1}), 18ms) << "a step without drafts costs a plain step";
    EXPECT_EQ(step_time(p.cost, p.speculation, {.tokens = 6, .drafted = 4}), 18ms + 1ms + 2 * 500us + 4us);
    p.speculation.parallel_draft = true;
    EXPECT_EQ(step_time(p.cost, p.speculation, {.tokens = 6, .drafted = 4}), 18ms + 1ms + 500us + 4us);
}

}  // namespace
}  // namespace weir::engine_model
