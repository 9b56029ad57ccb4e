#include "gateway/inspect.h"

#include <gtest/gtest.h>

namespace weir::gateway {
namespace {

std::string padded(std::string_view text) {
    std::string body;
    body.reserve(text.size() + 64);
    body = text;
    return body;
}

Inspected accepted(std::string_view text) {
    Inspector inspector;
    const auto body = padded(text);
    auto result = inspector.inspect(body);
    EXPECT_TRUE(result.has_value()) << text << " " << (result ? "" : result.error().message);
    return result ? *result : Inspected{};
}

struct RefusalCase {
    const char* name;
    std::string_view body;
    model::Reason reason;
    std::string_view param;
};

TEST(Inspect, RefusesWhatItCannotReadForSure) {
    using model::Reason;
    const RefusalCase cases[] = {
        {"empty body", "", Reason::invalid_json, ""},
        {"not an object", R"([1])", Reason::invalid_json, ""},
        {"a scalar", R"("x")", Reason::invalid_json, ""},
        {"cut in the middle", R"({"model":"a","messages":[)", Reason::invalid_json, ""},
        {"trailing bytes", R"({"model":"a"} {})", Reason::invalid_json, ""},
        {"a second closing brace", R"({"model":"a"}})", Reason::invalid_json, ""},
        {"duplicate model", R"({"model":"a","model":"b"})", Reason::invalid_json, ""},
        {"duplicate model behind an escape", R"({"model":"a","mod\u0065l":"b"})", Reason::invalid_json, ""},
        {"duplicate stream", R"({"model":"a","stream":true,"stream":false})", Reason::invalid_json, ""},
        {"duplicate include_usage", R"({"model":"a","stream_options":{"include_usage":true,"include_usage":false}})",
         Reason::invalid_json, ""},
        {"bad UTF-8 in a field that is not read", "{\"model\":\"a\",\"user\":\"\xC3\x28\"}", Reason::invalid_json, ""},
        {"model is missing", R"({"messages":[]})", Reason::invalid_request, "model"},
        {"model is a number", R"({"model":7})", Reason::invalid_request, "model"},
        {"model is null", R"({"model":null})", Reason::invalid_request, "model"},
        {"stream is a string", R"({"model":"a","stream":"yes"})", Reason::invalid_request, "stream"},
        {"max_tokens is a string", R"({"model":"a","max_tokens":"many"})", Reason::invalid_request, "max_tokens"},
        {"max_tokens is negative", R"({"model":"a","max_tokens":-1})", Reason::invalid_request, "max_tokens"},
        {"temperature is a string", R"({"model":"a","temperature":"hot"})", Reason::invalid_request, "temperature"},
        {"stream_options is an array", R"({"model":"a","stream_options":[]})", Reason::invalid_request,
         "stream_options"},
        {"include_usage is a number", R"({"model":"a","stream_options":{"include_usage":1}})", Reason::invalid_request,
         "stream_options.include_usage"},
        {"state of an earlier response", R"({"model":"a","previous_response_id":"r"})", Reason::unsupported_parameter,
         "previous_response_id"},
        {"an answer in the background", R"({"model":"a","background":true})", Reason::unsupported_parameter,
         "background"},
        {"messages is an object", R"({"model":"a","messages":{}})", Reason::invalid_request, "messages"},
        {"a message is a string", R"({"model":"a","messages":["hi"]})", Reason::invalid_request, "messages"},
    };
    for (const auto& c : cases) {
        Inspector inspector;
        const auto body = padded(c.body);
        const auto result = inspector.inspect(body);
        ASSERT_FALSE(result.has_value()) << c.name;
        EXPECT_EQ(result.error().reason, c.reason) << c.name << ": " << result.error().message;
        EXPECT_EQ(result.error().param, c.param) << c.name;
        EXPECT_FALSE(result.error().message.empty()) << c.name;
    }
}

TEST(Inspect, FindsTheModelValueInPlace) {
    const std::string_view text = "{ \"messages\" : [], \"model\"  :  \"a\\u0062c\"  , \"x\": 1.0e5 }";
    const auto seen = accepted(text);
    EXPECT_EQ(seen.model, "abc");
    EXPECT_EQ(text.substr(seen.model_value.begin, seen.model_value.end - seen.model_value.begin), "\"a\\u0062c\"");
}

TEST(Inspect, TheModelMayBeTheLastMember) {
    const std::string_view text = "{\"stream\":true,\"model\":\"m\"\n}";
    const auto seen = accepted(text);
    EXPECT_EQ(text.substr(seen.model_value.begin, seen.model_value.end - seen.model_value.begin), "\"m\"");
    EXPECT_TRUE(seen.stream);
}

struct FeatureCase {
    std::string_view member;
    std::optional<model::Feature> feature;
};

TEST(Inspect, ReadsTheFeaturesThatPoolsDifferIn) {
    using model::Feature;
    const FeatureCase cases[] = {
        {R"("tools":[{"type":"function"}])", Feature::tools},
        {R"("tools":[])", std::nullopt},
        {R"("tools":null)", std::nullopt},
        {R"("response_format":{"type":"json_object"})", Feature::structured_output},
        {R"("response_format":{"type":"text"})", std::nullopt},
        {R"("guided_regex":"a+")", Feature::structured_output},
        {R"("logprobs":true)", Feature::logprobs},
        {R"("logprobs":false)", std::nullopt},
        {R"("logprobs":0)", Feature::logprobs},
        {R"("prompt_logprobs":1)", Feature::prompt_logprobs},
        {R"("min_p":0.05)", Feature::min_p},
        {R"("min_p":0)", std::nullopt},
        {R"("logit_bias":{"5":1})", Feature::logit_bias},
        {R"("logit_bias":{})", std::nullopt},
        {R"("min_tokens":4)", Feature::min_tokens},
        {R"("presence_penalty":0.5)", Feature::penalties},
        {R"("repetition_penalty":1.0)", std::nullopt},
        {R"("repetition_penalty":1.1)", Feature::penalties},
        {R"("n":2)", Feature::multiple_choices},
        {R"("n":1)", std::nullopt},
        {R"("best_of":2)", Feature::best_of},
        {R"("echo":true)", Feature::echo},
        {R"("suffix":"end")", Feature::suffix},
        {R"("messages":[{"role":"user","content":"plain"}])", std::nullopt},
        {R"("messages":[{"role":"user","content":[{"type":"text","text":"a"}]}])", std::nullopt},
        {R"("messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}])", Feature::media},
        {R"("messages":[{"role":"assistant","content":null,"tool_calls":[]}])", std::nullopt},
        {R"("user":"u","metadata":{"n":5},"store":true,"service_tier":"auto","parallel_tool_calls":false)",
         std::nullopt},
    };
    for (const auto& c : cases) {
        const auto seen = accepted("{\"model\":\"a\"," + std::string{c.member} + "}");
        model::FeatureSet expected;
        if (c.feature) expected.add(*c.feature);
        EXPECT_EQ(seen.features, expected) << c.member;
    }
}

TEST(Inspect, MaxCompletionTokensWinsOverMaxTokensInEitherOrder) {
    EXPECT_EQ(accepted(R"({"model":"a","max_tokens":5,"max_completion_tokens":9})").max_tokens, 9);
    EXPECT_EQ(accepted(R"({"model":"a","max_completion_tokens":9,"max_tokens":5})").max_tokens, 9);
    EXPECT_EQ(accepted(R"({"model":"a","max_tokens":null})").max_tokens, std::nullopt);
}

TEST(Inspect, ReadsWhetherUsageWasAsked) {
    EXPECT_FALSE(accepted(R"({"model":"a"})").stream_options.present());
    const auto none = accepted(R"({"model":"a","stream_options":null})");
    EXPECT_TRUE(none.stream_options.present());
    EXPECT_FALSE(none.stream_options_is_object);
    const auto empty = accepted(R"({"model":"a","stream_options":{}})");
    EXPECT_TRUE(empty.stream_options_is_object && empty.stream_options_is_empty);
    const std::string_view text = R"({"model":"a","stream_options":{"x":1,"include_usage": false }})";
    const auto off = accepted(text);
    EXPECT_FALSE(off.include_usage_asked);
    EXPECT_EQ(text.substr(off.include_usage.begin, off.include_usage.end - off.include_usage.begin), "false");
    EXPECT_TRUE(accepted(R"({"model":"a","stream_options":{"include_usage":true}})").include_usage_asked);
}

TEST(Inspect, TemperatureZeroIsGreedy) {
    EXPECT_EQ(accepted(R"({"model":"a","temperature":0.0})").temperature, TemperatureClass::greedy);
    EXPECT_EQ(accepted(R"({"model":"a","temperature":0.7})").temperature, TemperatureClass::sampled);
    EXPECT_EQ(accepted(R"({"model":"a"})").temperature, TemperatureClass::unknown);
}

}  // namespace
}  // namespace weir::gateway
