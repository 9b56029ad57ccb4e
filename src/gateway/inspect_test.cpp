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

using model::Endpoint;

Inspected accepted(std::string_view text, Endpoint endpoint = Endpoint::chat_completions) {
    Inspector inspector;
    const auto body = padded(text);
    auto result = inspector.inspect(body, endpoint);
    EXPECT_TRUE(result.has_value()) << text << " " << (result ? "" : result.error().message);
    return result ? *result : Inspected{};
}

struct RefusalCase {
    const char* name;
    std::string_view body;
    model::Reason reason;
    std::string_view param;
    Endpoint endpoint = Endpoint::chat_completions;
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
        {"prompt is a number", R"({"model":"a","prompt":7})", Reason::invalid_request, "prompt", Endpoint::completions},
        {"prompt is an object", R"({"model":"a","prompt":{}})", Reason::invalid_request, "prompt",
         Endpoint::completions},
        {"a prompt is a boolean", R"({"model":"a","prompt":["x",true]})", Reason::invalid_request, "prompt",
         Endpoint::completions},
        {"prompts are nested too deep", R"({"model":"a","prompt":[[[1]]]})", Reason::invalid_request, "prompt",
         Endpoint::completions},
        {"duplicate prompt", R"({"model":"a","prompt":"x","pr\u006fmpt":"y"})", Reason::invalid_json, "",
         Endpoint::completions},
        {"a prompt breaks off", R"({"model":"a","prompt":["x",)", Reason::invalid_json, "", Endpoint::completions},
        {"echo is a number", R"({"model":"a","prompt":"x","echo":1})", Reason::invalid_request, "echo",
         Endpoint::completions},
        {"logprobs is a string", R"({"model":"a","prompt":"x","logprobs":"5"})", Reason::invalid_request, "logprobs",
         Endpoint::completions},
        {"input is false", R"({"model":"a","input":false})", Reason::invalid_request, "input", Endpoint::embeddings},
        {"encoding_format is a number", R"({"model":"a","input":"x","encoding_format":1})", Reason::invalid_request,
         "encoding_format", Endpoint::embeddings},
        {"an encoding that is not JSON", R"({"model":"a","input":"x","encoding_format":"bytes"})",
         Reason::invalid_request, "encoding_format", Endpoint::embeddings},
        {"duplicate input", R"({"model":"a","input":"x","input":"y"})", Reason::invalid_json, "", Endpoint::embeddings},
        {"duplicate content", R"({"model":"a","content":"x","content":"y"})", Reason::invalid_json, "",
         Endpoint::tokenize},
        {"no model to tokenize for", R"({"prompt":"x"})", Reason::invalid_request, "model", Endpoint::tokenize},
    };
    for (const auto& c : cases) {
        Inspector inspector;
        const auto body = padded(c.body);
        const auto result = inspector.inspect(body, c.endpoint);
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

// Members that an endpoint does not know are none of the gateway's business there, duplicates included.
TEST(Inspect, MembersOfOtherEndpointsPass) {
    EXPECT_FALSE(accepted(R"({"model":"a","input":"x","stream":"yes"})", Endpoint::embeddings).stream);
    EXPECT_FALSE(accepted(R"({"model":"a","prompt":"x","stream":true})", Endpoint::tokenize).stream);
    EXPECT_TRUE(accepted(R"({"model":"a","prompt":"x","stream":true})", Endpoint::completions).stream);
    EXPECT_TRUE(accepted(R"({"model":"a","prompt":7})").features.empty());
    EXPECT_TRUE(accepted(R"({"model":"a","encoding_format":1,"encoding_format":2,"input":false})").features.empty());
    EXPECT_EQ(accepted(R"({"model":"a","max_completion_tokens":9})", Endpoint::completions).max_tokens, std::nullopt);
}

TEST(Inspect, FeaturesOfTheOtherEndpoints) {
    using model::Feature;
    struct Case {
        Endpoint endpoint;
        std::string_view member;
        std::optional<Feature> feature;
    };
    const Case cases[] = {
        {Endpoint::completions, R"("prompt":"x")", std::nullopt},
        {Endpoint::completions, R"("logprobs":0)", Feature::logprobs},
        {Endpoint::completions, R"("logprobs":null)", std::nullopt},
        {Endpoint::completions, R"("echo":true)", Feature::echo},
        {Endpoint::completions, R"("suffix":"end")", Feature::suffix},
        {Endpoint::completions, R"("best_of":3)", Feature::best_of},
        {Endpoint::completions, R"("tools":[1])", std::nullopt},
        {Endpoint::embeddings, R"("encoding_format":"float")", std::nullopt},
        {Endpoint::embeddings, R"("encoding_format":"base64")", Feature::encoding_format},
        {Endpoint::embeddings, R"("encoding_format":null)", std::nullopt},
        {Endpoint::embeddings, R"("dimensions":256)", Feature::dimensions},
        {Endpoint::embeddings, R"("input":[{"text":"x","image":"y"}])", Feature::media},
        {Endpoint::embeddings, R"("min_p":1,"echo":true)", std::nullopt},
        {Endpoint::tokenize, R"("prompt":"x")", Feature::tokenize_prompt},
        {Endpoint::tokenize, R"("messages":[])", Feature::tokenize_messages},
        {Endpoint::tokenize, R"("content":"x")", Feature::tokenize_content},
        {Endpoint::tokenize, R"("messages":null,"content":null,"prompt":null)", std::nullopt},
    };
    for (const auto& c : cases) {
        const auto seen = accepted("{\"model\":\"a\"," + std::string{c.member} + "}", c.endpoint);
        model::FeatureSet expected;
        if (c.feature) expected.add(*c.feature);
        EXPECT_EQ(seen.features, expected) << c.member;
    }
}

TEST(Inspect, MeasuresPrompts) {
    struct Case {
        std::string_view members;
        std::uint64_t prompts;
        std::uint64_t text_bytes;  // with the quotes
        std::uint64_t token_ids;
        std::uint64_t choices = 1;
    };
    const Case cases[] = {
        {R"("prompt":"four")", 1, 6, 0},
        {R"("prompt":"")", 1, 2, 0},
        {R"("prompt":["four","a","longest"])", 3, 9, 0, 3},
        {R"("prompt":[1,22,333])", 1, 0, 3},
        {R"("prompt":[[1,2],[1,2,3,4],[5]])", 3, 0, 4, 3},
        {R"("prompt":[[1,2,3],[4]],"n":2)", 2, 0, 3, 4},
        {R"("prompt":[],"n":2)", 0, 0, 0, 2},
        {R"("prompt":["text",12,13])", 1, 10, 0},
        {R"("prompt":[[1,2,3,4,5,6,7],"x"])", 2, 3, 7, 2},
        {R"("prompt":[[1,2],"longer"])", 2, 8, 2, 2},
        {R"("prompt":"x","n":18446744073709551615)", 1, 3, 0, 18446744073709551615U},
        {R"("prompt":["x","y"],"n":18446744073709551615)", 2, 3, 0, 18446744073709551615U},
    };
    for (const auto& c : cases) {
        const auto seen = accepted("{\"model\":\"a\"," + std::string{c.members} + "}", Endpoint::completions);
        EXPECT_EQ(seen.prompt.count, c.prompts) << c.members;
        EXPECT_EQ(seen.prompt.text_bytes, c.text_bytes) << c.members;
        EXPECT_EQ(seen.prompt.token_ids, c.token_ids) << c.members;
        EXPECT_EQ(seen.choices, c.choices) << c.members;
        EXPECT_FALSE(seen.prompt.reshaped) << c.members;
    }
    const std::string_view chat = R"({"model":"a","messages":[]})";
    EXPECT_EQ(accepted(chat).prompt.text_bytes, chat.size()) << "messages: the whole body";
    const auto batch = accepted(R"({"model":"a","input":["x","yy"]})", Endpoint::embeddings);
    EXPECT_EQ(batch.prompt.count, 2U);
    EXPECT_EQ(batch.choices, 1U) << "embeddings have no choices";
}

TEST(Inspect, MembersThatChangeThePromptMakeItsSizeUnknown) {
    for (const std::string_view member : {"truncate_prompt_tokens", "chat_template", "chat_template_kwargs",
                                          "add_special_tokens", "documents", "continue_final_message"})
        for (const auto endpoint : {Endpoint::chat_completions, Endpoint::completions, Endpoint::embeddings}) {
            const auto text = R"({"model":"a",")" + std::string{member};
            EXPECT_TRUE(accepted(text + R"(":1})", endpoint).prompt.reshaped) << member;
            EXPECT_FALSE(accepted(text + R"(":null})", endpoint).prompt.reshaped) << member;
        }
}

}  // namespace
}  // namespace weir::gateway
