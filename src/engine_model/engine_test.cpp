#include "engine_model/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace weir::engine_model {
namespace {

using namespace std::chrono_literals;
using base::Instant;

Parameters plain() {
    Parameters p;
    p.max_running = 8;
    p.step_token_budget = 256;
    p.context_tokens = 1024;
    p.kv_blocks = 1024;
    p.cost = {.launch = 1ms, .weights = 9ms};
    return p;
}

Parameters speculating() {
    auto p = plain();
    p.speculation.position_acceptance = {0.84, 0.62, 0.44};
    return p;
}

// Certain acceptance, so that a test can say exactly how many tokens a step commits.
Parameters lucky(int k) {
    auto p = plain();
    p.speculation.position_acceptance.assign(static_cast<std::size_t>(k), 1.0);
    return p;
}

// Runs an engine with time of its own until it is idle, and keeps what it has seen.
struct Trial {
    explicit Trial(const Parameters& parameters, std::uint64_t seed = 1) : engine{parameters, seed} {}

    RequestId submit(const RequestSpec& spec) {
        auto id = engine.submit(spec, now);
        EXPECT_TRUE(id.has_value());
        return id.value_or(RequestId{});
    }
    StepResult step() {
        auto result = engine.step(now);
        now += result.duration;
        for (const auto& progress : result.progress)
            committed[progress.id].push_back(progress.tokens);
        for (const auto& one : result.finished)
            finished.push_back(one);
        check_counters();
        return result;
    }
    void drain() {
        for (int i = 0; i < 100'000 && !engine.idle(); ++i)
            (void)step();
        EXPECT_TRUE(engine.idle());
    }
    // The identities that a gateway uses to judge an engine's counters hold after every single step.
    void check_counters() const {
        const auto& c = engine.counters();
        const auto k = static_cast<std::uint64_t>(engine.parameters().speculation.proposal_length());
        const auto& positions = c.accepted_per_position;
        ASSERT_EQ(std::accumulate(positions.begin(), positions.end(), std::uint64_t{0}), c.accepted);
        ASSERT_TRUE(std::is_sorted(positions.rbegin(), positions.rend()));
        ASSERT_LE(c.accepted, c.draft_tokens);
        ASSERT_LE(c.draft_tokens, k * c.drafts);
        const auto inside = static_cast<std::uint64_t>(engine.running()) + static_cast<std::uint64_t>(engine.waiting());
        ASSERT_EQ(c.submitted, c.finished_stop + c.finished_length + c.aborted + inside);
    }
    [[nodiscard]] int total(RequestId id) const {
        const auto found = committed.find(id);
        return found == committed.end() ? 0 : std::accumulate(found->second.begin(), found->second.end(), 0);
    }

    Engine engine;
    Instant now{1s};
    std::map<RequestId, std::vector<int>> committed;
    std::vector<Finished> finished;
};

TEST(Engine, without_speculation_every_step_commits_one_token) {
    Trial run{plain()};
    const auto id = run.submit({.prompt_tokens = 10, .max_output_tokens = 4});
    run.drain();
    EXPECT_THAT(run.committed[id], testing::ElementsAre(1, 1, 1, 1));
    ASSERT_EQ(run.finished.size(), 1U);
    EXPECT_EQ(run.finished[0].reason, FinishReason::length);
    EXPECT_EQ(run.now, Instant{1s} + 4 * 10ms);
    EXPECT_EQ(run.engine.counters().drafts, 0U);
}

TEST(Engine, a_verify_step_commits_the_accepted_drafts_and_one_more) {
    Trial run{lucky(3)};
    const auto id = run.submit({.prompt_tokens = 10, .max_output_tokens = 9});
    run.drain();
    EXPECT_THAT(run.committed[id], testing::ElementsAre(1, 4, 4)) << "the prefill's token is not speculated";
    EXPECT_EQ(run.engine.counters().drafts, 2U);
    EXPECT_EQ(run.engine.counters().accepted, 6U);
}

TEST(Engine, the_limit_cuts_what_is_handed_out_but_not_what_was_accepted) {
    Trial run{lucky(3)};
    const auto id = run.submit({.prompt_tokens = 10, .max_output_tokens = 6});
    run.drain();
    EXPECT_THAT(run.committed[id], testing::ElementsAre(1, 4, 1));
    EXPECT_EQ(run.engine.counters().accepted, 6U);
    EXPECT_EQ(run.engine.counters().generation_tokens, 6U);
}

TEST(Engine, a_natural_end_before_or_at_the_limit_is_a_stop) {
    struct Case {
        int natural;
        FinishReason expected;
        int tokens;
    };
    for (const auto& [natural, expected, tokens] :
         {Case{3, FinishReason::stop, 3}, Case{5, FinishReason::stop, 5}, Case{6, FinishReason::length, 5}}) {
        Trial run{speculating()};
        (void)run.submit({.prompt_tokens = 4, .max_output_tokens = 5, .natural_length = natural});
        run.drain();
        ASSERT_EQ(run.finished.size(), 1U);
        EXPECT_EQ(run.finished[0].reason, expected) << natural;
        EXPECT_EQ(run.finished[0].output_tokens, tokens) << natural;
    }
}

TEST(Engine, long_prompts_are_computed_in_chunks_beside_decoding_sequences) {
    Trial run{plain()};
    const auto decoding = run.submit({.prompt_tokens = 8, .max_output_tokens = 50});
    (void)run.step();
    const auto lengthy = run.submit({.prompt_tokens = 600, .max_output_tokens = 2});
    const auto first = run.step();
    EXPECT_EQ(first.batch_tokens, 256);
    EXPECT_THAT(first.progress, testing::SizeIs(1)) << "the old sequence goes on while the prompt is computed";
    (void)run.step();
    EXPECT_EQ(run.total(lengthy), 0);
    (void)run.step();
    EXPECT_EQ(run.total(lengthy), 1) << "255 + 255 + 90 tokens: the third chunk completes the prompt";
    EXPECT_EQ(run.total(decoding), 4);
}

TEST(Engine, no_more_run_than_allowed_and_the_rest_wait_in_order) {
    auto parameters = plain();
    parameters.max_running = 2;
    Trial run{parameters};
    for (int i = 0; i < 5; ++i)
        (void)run.submit({.prompt_tokens = 4, .max_output_tokens = 3});
    (void)run.step();
    EXPECT_EQ(run.engine.running(), 2);
    EXPECT_EQ(run.engine.waiting(), 3);
    run.drain();
    std::vector<std::uint64_t> order;
    order.reserve(run.finished.size());
    for (const auto& one : run.finished)
        order.push_back(one.id.value);
    EXPECT_THAT(order, testing::ElementsAre(1, 2, 3, 4, 5));
}

TEST(Engine, an_aborted_request_commits_nothing_more_and_frees_its_blocks) {
    Trial run{speculating()};
    const auto running = run.submit({.prompt_tokens = 100, .max_output_tokens = 100});
    (void)run.step();
    const auto waiting = run.submit({.prompt_tokens = 100, .max_output_tokens = 100});
    const int before = run.total(running);
    EXPECT_GT(run.engine.kv_usage(), 0.0);

    const auto first = run.engine.abort(running, run.now);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->reason, FinishReason::aborted);
    EXPECT_EQ(first->output_tokens, before);
    EXPECT_TRUE(run.engine.abort(waiting, run.now).has_value());
    EXPECT_FALSE(run.engine.abort(waiting, run.now).has_value()) << "it is gone already";
    EXPECT_TRUE(run.engine.idle());
    EXPECT_EQ(run.engine.kv_usage(), 0.0);
    EXPECT_EQ(run.engine.counters().aborted, 2U);
    EXPECT_EQ(run.step().duration, 0ns);
}

TEST(Engine, a_full_cache_sends_the_youngest_back_and_loses_no_token) {
    auto parameters = speculating();
    parameters.context_tokens = 256;
    parameters.kv_blocks = 20;  // 320 tokens for 4 sequences that grow to 160
    Trial run{parameters};
    std::vector<RequestId> ids;
    ids.reserve(4);
    for (int i = 0; i < 4; ++i)
        ids.push_back(run.submit({.prompt_tokens = 60, .max_output_tokens = 100}));
    run.drain();
    EXPECT_GT(run.engine.counters().preemptions, 0U);
    for (const auto id : ids)
        EXPECT_EQ(run.total(id), 100);
    EXPECT_EQ(run.engine.kv_usage(), 0.0);
    EXPECT_EQ(run.engine.counters().prompt_tokens, 240U) << "a prompt that is computed twice counts once";
}

TEST(Engine, a_preempted_sequence_waits_for_the_next_step_and_computes_everything_again) {
    auto parameters = plain();
    parameters.step_token_budget = 32;
    parameters.context_tokens = 128;
    parameters.kv_blocks = 10;
    Trial run{parameters};
    for (int i = 0; i < 2; ++i)
        (void)run.submit({.prompt_tokens = 60, .max_output_tokens = 40});
    int computed = 0;
    for (int i = 0; i < 1000 && run.engine.counters().preemptions == 0; ++i)
        computed += run.step().batch_tokens;
    ASSERT_EQ(run.engine.counters().preemptions, 1U);
    EXPECT_EQ(run.engine.running(), 1) << "the room it left is not given back to it at once";
    EXPECT_EQ(run.engine.waiting(), 1);
    for (int i = 0; i < 1000 && !run.engine.idle(); ++i)
        computed += run.step().batch_tokens;
    constexpr int once = 2 * (60 + 39);  // the last token of each is never computed
    EXPECT_GE(computed, once + 80) << "the victim had grown beyond 80 tokens";
    for (const auto& one : run.finished)
        EXPECT_EQ(one.output_tokens, 40);
}

TEST(Engine, drafts_end_where_the_context_ends) {
    auto parameters = lucky(3);
    parameters.context_tokens = 16;
    Trial run{parameters};
    const auto id = run.submit({.prompt_tokens = 10, .max_output_tokens = 6});
    run.drain();
    EXPECT_EQ(run.total(id), 6);
    EXPECT_THAT(run.committed[id], testing::ElementsAre(1, 4, 1));
    EXPECT_EQ(run.engine.counters().draft_tokens, 3U) << "the last token had no room for drafts";
}

TEST(Engine, what_cannot_fit_is_refused_with_the_numbers) {
    Trial run{plain()};
    const auto too_long = run.engine.submit({.prompt_tokens = 1000, .max_output_tokens = 25}, run.now);
    ASSERT_FALSE(too_long.has_value());
    EXPECT_THAT(too_long.error().message(), testing::HasSubstr("1024"));
    EXPECT_TRUE(run.engine.submit({.prompt_tokens = 1000, .max_output_tokens = 24}, run.now).has_value());
    EXPECT_FALSE(run.engine.submit({.prompt_tokens = 0, .max_output_tokens = 1}, run.now).has_value());
    EXPECT_FALSE(run.engine.submit({.prompt_tokens = 1, .max_output_tokens = 0}, run.now).has_value());
}

TEST(Engine, times_of_a_request_are_in_order_and_its_statistics_add_up_to_the_engines) {
    Trial run{speculating()};
    for (int i = 0; i < 20; ++i)
        (void)run.submit({.prompt_tokens = 30, .max_output_tokens = 20 + i});
    run.drain();
    std::uint64_t drafted = 0;
    std::uint64_t accepted = 0;
    for (const auto& one : run.finished) {
        ASSERT_TRUE(one.scheduled_at && one.first_token_at);
        EXPECT_LE(one.arrived_at, *one.scheduled_at);
        EXPECT_LT(*one.scheduled_at, *one.first_token_at);
        EXPECT_LT(*one.first_token_at, one.ended_at);
        drafted += static_cast<std::uint64_t>(one.drafted);
        accepted += static_cast<std::uint64_t>(one.accepted);
    }
    EXPECT_EQ(drafted, run.engine.counters().draft_tokens);
    EXPECT_EQ(accepted, run.engine.counters().accepted);
}

// A long random life: submissions and aborts at random, a small cache, identities checked at every step.
void live_randomly(Trial& run, std::uint64_t seed) {
    base::Random random{seed};
    std::vector<RequestId> known;
    std::uint64_t handed_out = 0;
    for (int i = 0; i < 600; ++i) {
        if (random.below(3) == 0)
            known.push_back(run.submit({.prompt_tokens = 1 + static_cast<int>(random.below(150)),
                                        .max_output_tokens = 1 + static_cast<int>(random.below(80)),
                                        .natural_length = 1 + static_cast<int>(random.below(100))}));
        if (!known.empty() && random.below(10) == 0) {
            const auto gone = run.engine.abort(known[random.below(known.size())], run.now);
            if (gone) {
                EXPECT_EQ(gone->output_tokens, run.total(gone->id));
                handed_out += static_cast<std::uint64_t>(gone->output_tokens);
            }
        }
        (void)run.step();
    }
    run.drain();
    for (const auto& one : run.finished) {
        EXPECT_EQ(one.output_tokens, run.total(one.id));
        handed_out += static_cast<std::uint64_t>(one.output_tokens);
    }
    EXPECT_EQ(run.engine.counters().generation_tokens, handed_out);
    EXPECT_EQ(run.engine.kv_usage(), 0.0);
}

TEST(Engine, no_token_is_lost_or_made_up_in_a_random_life) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        auto parameters = seed % 2 == 0 ? speculating() : plain();
        parameters.context_tokens = 256;
        parameters.kv_blocks = 40;
        Trial run{parameters, seed};
        live_randomly(run, seed);
    }
}

TEST(Engine, the_same_seed_gives_the_same_run_and_another_seed_another) {
    const auto play = [](std::uint64_t seed) {
        Trial run{speculating(), seed};
        for (int i = 0; i < 10; ++i)
            (void)run.submit({.prompt_tokens = 20, .max_output_tokens = 60});
        run.drain();
        return run.committed;
    };
    EXPECT_EQ(play(5), play(5));
    EXPECT_NE(play(5), play(6));
}

TEST(Engine, a_requests_luck_does_not_depend_on_its_company) {
    const auto first_request = [](int others) {
        Trial run{speculating(), 9};
        const auto id = run.submit({.prompt_tokens = 20, .max_output_tokens = 40});
        for (int i = 0; i < others; ++i)
            (void)run.submit({.prompt_tokens = 20, .max_output_tokens = 40});
        run.drain();
        return run.committed[id];
    };
    EXPECT_EQ(first_request(0), first_request(5));
}

}  // namespace
}  // namespace weir::engine_model
