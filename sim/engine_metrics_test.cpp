#include "sim/engine_metrics.h"

#include "engine_model/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace weir::sim {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

// Metrics after one request has gone through an engine of the preset, in simulated time.
std::string text_after_one_request(std::string_view preset) {
    engine_model::Engine engine{engine_model::find_preset(preset)->parameters, 3};
    EngineMetrics metrics{"m", base::WallTime{1700000000s}};
    base::Instant now{1s};
    EXPECT_TRUE(engine.submit({.prompt_tokens = 12, .max_output_tokens = 30}, now).has_value());
    for (int i = 0; i < 100 && !engine.idle(); ++i) {
        const auto step = engine.step(now);
        now += step.duration;
        metrics.observe_step(step);
        for (const auto& finished : step.finished)
            metrics.observe_finished(finished);
    }
    return metrics.text(engine, 0ns);
}

TEST(EngineMetrics, the_names_and_labels_are_vllms) {
    const auto text = text_after_one_request("tiny-fast-k2");
    EXPECT_THAT(
        text,
        HasSubstr(
            "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\",model_name=\"m\"} 0.0\n"));
    EXPECT_THAT(text, HasSubstr("vllm:prompt_tokens_total{engine=\"0\",model_name=\"m\"} 12.0\n"));
    EXPECT_THAT(text, HasSubstr("vllm:generation_tokens_total{engine=\"0\",model_name=\"m\"} 30.0\n"));
    EXPECT_THAT(
        text, HasSubstr("vllm:request_success_total{engine=\"0\",finished_reason=\"length\",model_name=\"m\"} 1.0\n"));
    EXPECT_THAT(
        text,
        HasSubstr("vllm:num_requests_waiting_by_reason{engine=\"0\",model_name=\"m\",reason=\"capacity\"} 0.0\n"));
    EXPECT_THAT(text, HasSubstr("vllm:cache_config_info{block_size=\"16\",cache_dtype=\"auto\",enable_prefix_caching="
                                "\"False\",engine=\"0\""));
    EXPECT_THAT(text, HasSubstr("vllm:e2e_request_latency_seconds_count{engine=\"0\",model_name=\"m\"} 1.0\n"));
    EXPECT_THAT(text, HasSubstr("vllm:iteration_tokens_total_bucket{engine=\"0\",model_name=\"m\",le=\"16.0\"}"));
    EXPECT_THAT(text, HasSubstr("vllm:prompt_tokens_created{engine=\"0\",model_name=\"m\"} 1700000000.0\n"));
    EXPECT_THAT(text, HasSubstr("process_start_time_seconds 1700000000.000\n"));
    EXPECT_THAT(text, Not(HasSubstr("Histogram"))) << "help texts are our own and say that this is simulated";
}

TEST(EngineMetrics, speculative_counters_exist_only_with_speculation_and_with_all_positions) {
    const auto with = text_after_one_request("eagle3-k3");
    EXPECT_THAT(with, HasSubstr("vllm:spec_decode_num_drafts_total{engine=\"0\",model_name=\"m\"}"));
    for (const auto* const position : {"0", "1", "2"})
        EXPECT_THAT(
            with, HasSubstr(std::string{"per_pos_total{engine=\"0\",model_name=\"m\",position=\""} + position + "\"}"));
    EXPECT_THAT(with, Not(HasSubstr("position=\"3\"")));
    EXPECT_THAT(text_after_one_request("baseline"), Not(HasSubstr("spec_decode")));
}

TEST(EngineMetrics, every_help_line_says_simulated) {
    const auto text = text_after_one_request("eagle3-k3");
    std::size_t helps = 0;
    for (std::size_t at = text.find("# HELP"); at != std::string::npos; at = text.find("# HELP", at + 1)) {
        ++helps;
        EXPECT_THAT(text.substr(at, text.find('\n', at) - at), HasSubstr("Simulated: "));
    }
    EXPECT_GT(helps, 20U);
}

TEST(Histogram, buckets_are_cumulative_and_bounds_belong_to_their_bucket) {
    Histogram histogram{{1, 2}};
    for (const double value : {0.5, 1.0, 1.5, 9.0})
        histogram.observe(value);
    std::string out;
    histogram.write(out, "h", "a=\"b\"");
    EXPECT_EQ(out,
              "h_bucket{a=\"b\",le=\"1.0\"} 2.0\nh_bucket{a=\"b\",le=\"2.0\"} 3.0\nh_bucket{a=\"b\",le=\"+Inf\"} 4.0\n"
              "h_count{a=\"b\"} 4.0\nh_sum{a=\"b\"} 12.0\n");
}

}  // namespace
}  // namespace weir::sim
