#include "sim/chat_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace weir::sim {
namespace {

ServedModel served() {
    return {
        .name = "m", .version = "0.22.0", .fingerprint = "f", .context_tokens = 100, .speculating = true, .seed = 1};
}

ChatRequest request() {
    ChatRequest r;
    r.model = "m";
    r.prompt = "hello";
    r.prompt_tokens = 40;
    r.max_output_tokens = 20;
    return r;
}

TEST(ChatPlan, the_limit_is_the_requests_or_what_the_context_leaves) {
    const auto given = plan_chat(request(), served());
    ASSERT_TRUE(given.has_value());
    EXPECT_EQ(given->choices.at(0).spec.max_output_tokens, 20);
    auto open = request();
    open.max_output_tokens.reset();
    const auto left = plan_chat(open, served());
    ASSERT_TRUE(left.has_value());
    EXPECT_EQ(left->choices.at(0).spec.max_output_tokens, 60);
}

TEST(ChatPlan, choices_differ_from_each_other_and_repeat_themselves) {
    auto two = request();
    two.n = 2;
    const auto first = plan_chat(two, served());
    const auto again = plan_chat(two, served());
    ASSERT_TRUE(first && again);
    ASSERT_EQ(first->choices.size(), 2U);
    EXPECT_NE(first->choices[0].script, first->choices[1].script);
    EXPECT_EQ(first->choices[1].script, again->choices[1].script);
    auto other = served();
    other.seed = 2;
    EXPECT_NE(plan_chat(two, other)->choices[0].script, first->choices[0].script);
}

TEST(ChatPlan, the_models_own_end_can_be_ignored_or_put_off) {
    auto endless = request();
    endless.ignore_eos = true;
    EXPECT_FALSE(plan_chat(endless, served())->choices[0].spec.natural_length.has_value());
    auto least = request();
    least.min_tokens = 20;
    EXPECT_GE(plan_chat(least, served())->choices[0].spec.natural_length, 20);
}

struct Refusal {
    std::string name;
    std::function<void(ChatRequest&)> change;
    int status;
    std::string message;
    std::string param;
};

TEST(ChatPlan, refusals_have_the_engines_words) {
    const std::vector<Refusal> cases{
        {"unknown model", [](ChatRequest& r) { r.model = "other"; }, 404, "The model `other` does not exist.", "model"},
        {"prompt and output too long", [](ChatRequest& r) { r.max_output_tokens = 61; }, 400,
         "maximum context length is 100 tokens. However, you requested 61 output tokens and your prompt contains at "
         "least 40 input",
         "input_tokens"},
        {"prompt alone too long",
         [](ChatRequest& r) {
             r.prompt_tokens = 100;
             r.max_output_tokens.reset();
         },
         400, "maximum context length is 100 tokens", "input_tokens"},
        {"min_p", [](ChatRequest& r) { r.uses_min_p = true; }, 400,
         "The min_p and logit_bias sampling parameters are not yet supported with speculative decoding.", ""},
        {"logit_bias", [](ChatRequest& r) { r.uses_logit_bias = true; }, 400,
         "not yet supported with speculative decoding", ""},
        {"min_tokens over the limit", [](ChatRequest& r) { r.min_tokens = 21; }, 400, "min_tokens", "min_tokens"},
    };
    for (const auto& one : cases) {
        auto changed = request();
        one.change(changed);
        const auto plan = plan_chat(changed, served());
        ASSERT_FALSE(plan.has_value()) << one.name;
        EXPECT_EQ(plan.error().status, one.status) << one.name;
        EXPECT_THAT(plan.error().message, testing::HasSubstr(one.message)) << one.name;
        EXPECT_EQ(plan.error().param, one.param) << one.name;
    }
}

TEST(ChatPlan, without_speculation_min_p_and_logit_bias_are_served) {
    auto plain = served();
    plain.speculating = false;
    auto both = request();
    both.uses_min_p = both.uses_logit_bias = true;
    EXPECT_TRUE(plan_chat(both, plain).has_value());
}

TEST(ChatPlan, a_prompt_without_a_model_goes_to_the_one_there_is) {
    auto nameless = request();
    nameless.model.clear();
    EXPECT_TRUE(plan_chat(nameless, served()).has_value());
}

}  // namespace
}  // namespace weir::sim
