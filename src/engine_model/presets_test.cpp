#include "engine_model/presets.h"

#include "engine_model/engine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <string_view>

namespace weir::engine_model {
namespace {

using namespace std::chrono_literals;
using base::Instant;

// Output tokens a second of a preset that always has `concurrency` requests, in simulated time.
double throughput(std::string_view name, int concurrency) {
    Engine engine{find_preset(name)->parameters, 42};
    Instant now{0s};
    const RequestSpec spec{.prompt_tokens = 128, .max_output_tokens = 512};
    for (int i = 0; i < concurrency; ++i)
        (void)engine.submit(spec, now);
    for (int i = 0; i < 2'000; ++i) {
        const auto result = engine.step(now);
        now += result.duration;
        for (std::size_t j = 0; j < result.finished.size(); ++j)
            (void)engine.submit(spec, now);
    }
    return static_cast<double>(engine.counters().generation_tokens) / base::to_seconds(now.time_since_epoch());
}

double speedup(std::string_view speculative, std::string_view baseline, int concurrency) {
    return throughput(speculative, concurrency) / throughput(baseline, concurrency);
}

TEST(Presets, every_preset_is_valid_named_once_and_explained) {
    std::set<std::string_view> names;
    for (const auto& preset : presets()) {
        EXPECT_TRUE(check(preset.parameters).has_value()) << preset.name;
        EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
        EXPECT_FALSE(preset.summary.empty()) << preset.name;
        EXPECT_EQ(preset.method == "none", !preset.parameters.speculation.enabled()) << preset.name;
        EXPECT_EQ(find_preset(preset.name), &preset);
    }
    EXPECT_EQ(find_preset("no-such-preset"), nullptr);
}

TEST(Presets, eagle3_wins_at_low_load_and_its_gain_shrinks_as_the_batch_fills) {
    const double alone = speedup("eagle3-k3", "baseline", 1);
    const double busy = speedup("eagle3-k3", "baseline", 64);
    const double full = speedup("eagle3-k3", "baseline", 256);
    EXPECT_GT(alone, 1.9);
    EXPECT_LT(alone, 2.6);
    EXPECT_LT(busy, alone);
    EXPECT_LT(full, busy);
    EXPECT_LT(full, 1.25);
}

TEST(Presets, mtp_wins_moderately_at_low_load) {
    const double alone = speedup("mtp-k1", "baseline", 1);
    EXPECT_GT(alone, 1.4);
    EXPECT_LT(alone, 1.86);
}

TEST(Presets, slow_loser_loses_at_every_load_in_spite_of_its_acceptance) {
    EXPECT_GT(find_preset("slow-loser")->parameters.speculation.mean_accepted_length(), 3.0);
    for (const int concurrency : {1, 8, 64})
        EXPECT_LT(speedup("slow-loser", "small-baseline", concurrency), 1.0) << concurrency;
}

TEST(Presets, crowd_holds_2048_streams_with_slow_steps) {
    Engine engine{find_preset("crowd")->parameters, 1};
    Instant now{0s};
    for (int i = 0; i < 2048; ++i)
        ASSERT_TRUE(engine.submit({.prompt_tokens = 10, .max_output_tokens = 2000}, now).has_value());
    for (int i = 0; i < 10; ++i) {
        const auto result = engine.step(now);
        EXPECT_GE(result.duration, 50ms);
        now += result.duration;
    }
    EXPECT_EQ(engine.running(), 2048);
}

}  // namespace
}  // namespace weir::engine_model
