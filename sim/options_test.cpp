#include "sim/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace weir::sim {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Options, a_preset_brings_engine_and_model) {
    const auto options = options_of_preset("eagle3-k3");
    ASSERT_TRUE(options.has_value());
    EXPECT_EQ(options->model, "sim/large-70b");
    EXPECT_EQ(options->engine.speculation.proposal_length(), 3);
    EXPECT_TRUE(check(*options).has_value());
}

TEST(Options, an_unknown_preset_is_refused_with_those_there_are) {
    const auto options = options_of_preset("eagle9");
    ASSERT_FALSE(options.has_value());
    EXPECT_THAT(options.error().message(), HasSubstr("eagle3-k3"));
}

TEST(Options, a_file_changes_what_it_names_and_keeps_the_rest_of_its_preset) {
    base::Problems problems;
    const auto options = options_of_file(
        "preset: tiny-fast-k2\n"
        "listen: 127.0.0.1:0\n"
        "model: my-model\n"
        "seed: 9\n"
        "engine:\n"
        "  launch: 5ms\n"
        "  max_running: 3\n"
        "  position_acceptance: [0.9, 0.5, 0.25]\n",
        "sim.yaml", problems);
    EXPECT_EQ(problems.format(), "");
    EXPECT_EQ(options.listen.port, 0);
    EXPECT_EQ(options.model, "my-model");
    EXPECT_EQ(options.seed, 9U);
    EXPECT_EQ(options.engine.cost.launch, 5ms);
    EXPECT_EQ(options.engine.cost.weights, 100us) << "of the preset";
    EXPECT_EQ(options.engine.max_running, 3);
    EXPECT_THAT(options.engine.speculation.position_acceptance, testing::ElementsAre(0.9, 0.5, 0.25));
}

TEST(Options, json_is_read_too) {
    base::Problems problems;
    const auto options = options_of_file(R"({"preset": "mtp-k1", "engine": {"spread": 0.5}})", "sim.json", problems);
    EXPECT_EQ(problems.format(), "");
    EXPECT_EQ(options.preset, "mtp-k1");
    EXPECT_EQ(options.engine.speculation.spread, 0.5);
}

TEST(Options, every_mistake_of_a_file_is_reported_where_it_stands) {
    base::Problems problems;
    (void)options_of_file(
        "preset: nothing\n"
        "lsten: 127.0.0.1:0\n"
        "engine:\n"
        "  launch: 5\n"
        "  max_runing: 3\n"
        "  parallel_draft: maybe\n",
        "sim.yaml", problems);
    const auto report = problems.format();
    EXPECT_THAT(report, HasSubstr("sim.yaml:1:9: preset: there is no preset"));
    EXPECT_THAT(report, HasSubstr("sim.yaml:2:1: lsten: unknown key; did you mean listen?"));
    EXPECT_THAT(report, HasSubstr("sim.yaml:4:11: engine.launch: "));
    EXPECT_THAT(report, HasSubstr("sim.yaml:5:3: engine.max_runing: unknown key; did you mean max_running?"));
    EXPECT_THAT(report, HasSubstr("engine.parallel_draft: must be true or false"));
}

TEST(Options, what_cannot_be_imitated_or_named_is_refused) {
    for (const auto* const imitates : {"sglang:0.5", "vllm", "vllm:", "vllm:new"}) {
        auto options = *options_of_preset("baseline");
        options.imitates = imitates;
        EXPECT_FALSE(check(options).has_value()) << imitates;
    }
    auto quoted = *options_of_preset("baseline");
    quoted.model = "a\"b";
    EXPECT_FALSE(check(quoted).has_value());
    auto broken = *options_of_preset("baseline");
    broken.engine.kv_blocks = 1;
    ASSERT_FALSE(check(broken).has_value());
    EXPECT_THAT(check(broken).error().message(), HasSubstr("kv_blocks"));
}

TEST(Options, the_served_model_has_a_full_version_and_a_fingerprint_that_says_weir_sim) {
    auto options = *options_of_preset("eagle3-k3");
    options.imitates = "vllm:0.22";
    EXPECT_EQ(served_model(options).version, "0.22.0");
    EXPECT_THAT(served_model(options).fingerprint, testing::StartsWith("vllm-0.22.0-weir-sim-"));
    EXPECT_TRUE(served_model(options).speculating);
    options.imitates = "vllm:0.23.1";
    EXPECT_EQ(served_model(options).version, "0.23.1");
}

}  // namespace
}  // namespace weir::sim
