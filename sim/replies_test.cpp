#include "sim/replies.h"

#include "sim/api_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::sim {
namespace {

const AnswerHead head{.id = "chatcmpl-1", .model = "m", .created = 5};

TEST(Replies, a_role_event_has_the_role_and_no_text) {
    EXPECT_EQ(
        role_event(head, 1, std::nullopt),
        R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":1,)"
        R"("delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null,"token_ids":null}]})"
        "\n\n");
}

TEST(Replies, the_last_content_event_has_reason_fingerprint_and_usage_where_asked) {
    EXPECT_EQ(
        content_event(head, 0, " x\n", Usage{.prompt_tokens = 3, .completion_tokens = 2},
                      ChunkEnd{.finish_reason = "stop", .stop_reason = "y", .fingerprint = "f"}),
        R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":0,)"
        R"("delta":{"content":" x\n"},"logprobs":null,"finish_reason":"stop","stop_reason":"y","token_ids":null}],)"
        R"("system_fingerprint":"f","usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2,)"
        R"("prompt_tokens_details":null}})"
        "\n\n");
}

TEST(Replies, the_usage_event_has_no_choices) {
    EXPECT_EQ(usage_event(head, {.prompt_tokens = 3, .completion_tokens = 2}),
              R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":5,"model":"m","choices":[],)"
              R"("usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2,"prompt_tokens_details":null}})"
              "\n\n");
}

TEST(Replies, a_whole_answer_has_one_message_for_each_choice) {
    const auto body =
        completion(head, {{.text = "one", .finish_reason = "length"}, {.text = "two", .finish_reason = "stop"}},
                   {.prompt_tokens = 3, .completion_tokens = 9}, "f");
    EXPECT_THAT(body, testing::HasSubstr(R"("object":"chat.completion")"));
    EXPECT_THAT(body, testing::HasSubstr(R"("index":1,"message":{"role":"assistant","content":"two","refusal":null)"));
    EXPECT_THAT(body, testing::HasSubstr(R"("finish_reason":"length","stop_reason":null)"));
    EXPECT_THAT(body, testing::HasSubstr(R"("system_fingerprint":"f","usage":{"prompt_tokens":3,"total_tokens":12)"));
}

TEST(Replies, text_completions_have_text_and_no_delta) {
    const AnswerHead text{.id = "cmpl-1", .model = "m", .created = 5, .is_text = true};
    EXPECT_EQ(content_event(text, 1, " x", std::nullopt, std::nullopt),
              R"(data: {"id":"cmpl-1","object":"text_completion","created":5,"model":"m","choices":[{"index":1,)"
              R"("text":" x","logprobs":null,"finish_reason":null,"token_ids":null}]})"
              "\n\n");
    EXPECT_THAT(completion(text, {{.text = "one", .finish_reason = "length"}}, {.prompt_tokens = 3}, "f"),
                testing::HasSubstr(R"("object":"text_completion","created":5,"model":"m","choices":[{"index":0,)"
                                   R"("text":"one","logprobs":null,"finish_reason":"length")"));
}

TEST(Replies, vectors_are_the_same_as_numbers_and_as_base64) {
    const AnswerHead list{.id = "embd-1", .model = "m", .created = 5};
    EmbeddingRequest request{.model = {}, .inputs = {"a"}, .prompt_tokens = 1, .dimensions = 1};
    const bool positive = embeddings_result(list, request).contains(R"("embedding":[1)");
    EXPECT_THAT(embeddings_result(list, request), testing::HasSubstr(positive ? "[1" : "[-1"));
    request.as_base64 = true;
    EXPECT_THAT(embeddings_result(list, request),
                testing::HasSubstr(positive ? R"("embedding":"AACAPw==")" : R"("embedding":"AACAvw==")"));
    request.dimensions = 3;
    request.inputs = {"a", "a", "b"};
    EXPECT_THAT(embeddings_result(list, request), testing::HasSubstr(R"("index":2,"object":"embedding")"));
}

TEST(Replies, the_model_card_says_that_it_is_simulated) {
    const auto body = models_list({.name = "m", .version = {}, .fingerprint = {}, .context_tokens = 77}, 5);
    EXPECT_THAT(body, testing::HasSubstr(R"("id":"m","object":"model","created":5,"owned_by":"weir-sim")"));
    EXPECT_THAT(body, testing::HasSubstr(R"("max_model_len":77)"));
}

TEST(Replies, tokens_of_the_template_are_counted) {
    EXPECT_EQ(tokenize_result({8, 9}, 1, 77), R"({"count":3,"max_model_len":77,"tokens":[0,8,9],"token_strs":null})");
}

TEST(ApiError, is_nested_with_a_numeric_code_and_a_null_param_where_none_is_meant) {
    EXPECT_EQ(
        to_json(unknown_model("x")),
        R"({"error":{"message":"The model `x` does not exist.","type":"NotFoundError","param":"model","code":404}})");
    EXPECT_EQ(to_json(http_error(405)),
              R"({"error":{"message":"Method Not Allowed","type":"Method Not Allowed","param":null,"code":405}})");
}

}  // namespace
}  // namespace weir::sim
