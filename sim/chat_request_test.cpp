#include "sim/chat_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::sim {
namespace {

using testing::HasSubstr;

std::string body_with(const std::string& members) {
    return R"({"model":"m","messages":[{"role":"user","content":"hello there"}])" + members + "}";
}

TEST(ChatRequest, defaults_are_those_of_the_api) {
    const auto request = parse_chat_request(body_with(""));
    ASSERT_TRUE(request.has_value());
    EXPECT_EQ(request->model, "m");
    EXPECT_EQ(request->n, 1);
    EXPECT_FALSE(request->stream);
    EXPECT_FALSE(request->max_output_tokens.has_value());
    EXPECT_EQ(request->prompt, "hello there");
    EXPECT_EQ(request->prompt_tokens, 3 + 4 + 3) << "11 bytes, one message, the reply's opening";
}

TEST(ChatRequest, reads_every_field_that_matters) {
    const auto request = parse_chat_request(
        body_with(R"(,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"n":2,)"
                  R"("max_tokens":9,"max_completion_tokens":7,"min_tokens":2,"ignore_eos":true,"min_p":0.1,)"
                  R"("logit_bias":{"5":1},"stop":["a","b"],"request_id":"mine")"));
    ASSERT_TRUE(request.has_value());
    EXPECT_TRUE(request->stream && request->include_usage && request->continuous_usage && request->ignore_eos);
    EXPECT_TRUE(request->uses_min_p && request->uses_logit_bias);
    EXPECT_EQ(request->n, 2);
    EXPECT_EQ(request->max_output_tokens, 7) << "max_completion_tokens wins";
    EXPECT_EQ(request->min_tokens, 2);
    EXPECT_THAT(request->stop, testing::ElementsAre("a", "b"));
    EXPECT_EQ(request->request_id, "mine");
}

TEST(ChatRequest, neutral_values_are_as_good_as_absent_ones) {
    const auto request = parse_chat_request(body_with(
        R"(,"min_p":0.0,"logit_bias":{},"n":null,"stop":null,"max_tokens":null,"stream_options":null,"made_up":[1])"));
    ASSERT_TRUE(request.has_value());
    EXPECT_FALSE(request->uses_min_p || request->uses_logit_bias);
    EXPECT_EQ(request->n, 1);
}

TEST(ChatRequest, content_may_be_parts_or_null) {
    const auto request = parse_chat_request(
        R"({"messages":[{"role":"user","content":[{"type":"text","text":"ab"},{"type":"image_url"}]},)"
        R"({"role":"assistant","content":null},{"role":"user","content":"cd"}]})");
    ASSERT_TRUE(request.has_value());
    EXPECT_EQ(request->prompt, "abcd");
    EXPECT_EQ(request->model, "");
    EXPECT_EQ(request->prompt_tokens, 1 + 3 * 4 + 3);
}

struct BadBody {
    std::string name;
    std::string body;
    std::string type;
    std::string message;
};

TEST(ChatRequest, refusals_are_400_and_say_which_field) {
    const std::vector<BadBody> cases{
        {"cut", R"({"model":)", "Bad Request", "JSON decode error"},
        {"empty", "", "Bad Request", "JSON decode error"},
        {"not an object", "[1]", "Bad Request", "valid dictionary"},
        {"no messages", R"({"model":"m"})", "Bad Request", "messages: Field required"},
        {"empty messages", R"({"messages":[]})", "BadRequestError", "At least one message"},
        {"role missing", R"({"messages":[{"content":"x"}]})", "Bad Request", "role"},
        {"content number", R"({"messages":[{"role":"user","content":5}]})", "Bad Request", "content"},
        {"stream text", body_with(R"(,"stream":"yes")"), "Bad Request", "body.stream"},
        {"options without stream", body_with(R"(,"stream_options":{"include_usage":true})"), "BadRequestError",
         "Stream options"},
        {"n zero", body_with(R"(,"n":0)"), "BadRequestError", "n must be at least 1"},
        {"n huge", body_with(R"(,"n":129)"), "BadRequestError", "n must be at most 128"},
        {"max_tokens zero", body_with(R"(,"max_tokens":0)"), "BadRequestError", "max_tokens must be at least 1"},
        {"max_tokens text", body_with(R"(,"max_tokens":"9")"), "Bad Request", "body.max_tokens"},
        {"max_tokens beyond int", body_with(R"(,"max_tokens":99999999999)"), "BadRequestError", "max_tokens"},
        {"stop number", body_with(R"(,"stop":5)"), "Bad Request", "body.stop"},
        {"stop empty", body_with(R"(,"stop":[""])"), "Bad Request", "body.stop"},
    };
    for (const auto& one : cases) {
        const auto request = parse_chat_request(one.body);
        ASSERT_FALSE(request.has_value()) << one.name;
        EXPECT_EQ(request.error().status, 400) << one.name;
        EXPECT_EQ(request.error().type, one.type) << one.name;
        EXPECT_THAT(request.error().message, HasSubstr(one.message)) << one.name;
    }
}

TEST(TokenizeRequest, takes_a_prompt_or_messages) {
    const auto prompt = parse_tokenize_request(R"({"model":"m","prompt":"abcdefgh"})");
    ASSERT_TRUE(prompt.has_value());
    EXPECT_EQ(prompt->text, "abcdefgh");
    EXPECT_EQ(prompt->extra_tokens, 0);
    const auto chat = parse_tokenize_request(R"({"messages":[{"role":"user","content":"abcdefgh"}]})");
    ASSERT_TRUE(chat.has_value());
    EXPECT_EQ(chat->extra_tokens, 7);
    EXPECT_FALSE(parse_tokenize_request(R"({"model":"m"})").has_value());
}

TEST(CompletionRequest, takes_one_prompt_as_text_or_ids) {
    const auto with_prompt = [](const std::string& prompt) {
        return parse_completion_request(R"({"model":"m","prompt":)" + prompt + R"(,"n":2,"stream":true})");
    };
    const auto text = with_prompt(R"("hello there")");
    ASSERT_TRUE(text.has_value());
    EXPECT_TRUE(text->is_text && text->stream);
    EXPECT_EQ(text->prompt_tokens, 3) << "no template";
    EXPECT_EQ(text->max_output_tokens, 16);
    EXPECT_EQ(text->n, 2);
    EXPECT_EQ(with_prompt(R"(["hello there"])")->prompt_tokens, 3);
    EXPECT_EQ(with_prompt("[7,8,9,10]")->prompt_tokens, 4);
    EXPECT_EQ(with_prompt("[[7,8]]")->prompt_tokens, 2);
    for (const std::string bad : {"7", "[]", R"(["a","b"])", "[1,\"a\"]", "null", "[[]]", "{}"})
        EXPECT_FALSE(with_prompt(bad).has_value()) << bad;
}

TEST(EmbeddingRequest, takes_inputs_of_every_shape) {
    const auto request = parse_embedding_request(
        R"({"model":"m","input":["hello there","x"],"encoding_format":"base64","dimensions":4})");
    ASSERT_TRUE(request.has_value());
    EXPECT_TRUE(request->as_base64);
    EXPECT_EQ(request->dimensions, 4);
    EXPECT_EQ(request->inputs.size(), 2U);
    EXPECT_EQ(request->prompt_tokens, 3 + 1);
    EXPECT_EQ(parse_embedding_request(R"({"input":[[1,2],[3]]})")->prompt_tokens, 3);
    EXPECT_FALSE(parse_embedding_request(R"({"input":"x"})")->as_base64);
    for (const std::string bad : {R"({"model":"m"})", R"({"input":7})", R"({"input":"x","encoding_format":"hex"})",
                                  R"({"input":"x","dimensions":0})"})
        EXPECT_FALSE(parse_embedding_request(bad).has_value()) << bad;
}

}  // namespace
}  // namespace weir::sim
