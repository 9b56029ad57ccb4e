#include "engine/error_body.h"

#include "base/random.h"
#include "base/text.h"
#include "engine/recording.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::engine {
namespace {

struct ShapeCase {
    std::string name;
    std::string body;
    std::string message;
    std::string type;
    std::string param;
    std::string code;
};

TEST(ErrorBody, EveryShapeIsRead) {
    const std::vector<ShapeCase> cases{
        {"nested", R"({"error":{"message":"bad","type":"BadRequestError","param":"n","code":400}})", "bad",
         "BadRequestError", "n", "400"},
        {"code as text", R"({"error":{"message":"bad","type":"t","param":null,"code":"invalid_value"}})", "bad", "t",
         "", "invalid_value"},
        {"flat", R"({"object":"error","message":"bad","type":"BadRequest","param":null,"code":400})", "bad",
         "BadRequest", "", "400"},
        {"error is a text", R"({"error":"Unauthorized"})", "Unauthorized", "", "", ""},
        {"Anthropic", R"({"type":"error","error":{"type":"overloaded_error","message":"busy"}})", "busy",
         "overloaded_error", "", ""},
        {"FastAPI, a text", R"({"detail":"Not Found"})", "Not Found", "", "", ""},
        {"FastAPI, a list",
         R"({"detail":[{"loc":["body","temperature"],"msg":"too hot","type":"value_error"},{"msg":"second"}]})",
         "too hot", "value_error", "temperature", ""},
        {"FastAPI, a place in a list", R"({"detail":[{"loc":["body","messages",2],"msg":"no"}]})", "no", "", "2", ""},
        {"a failed response",
         R"({"type":"response.failed","response":{"error":{"code":"server_error","message":"died"}}})", "died", "", "",
         "server_error"},
        {"an error event of responses", R"({"type":"error","code":"server_error","message":"died","param":null})",
         "died", "error", "", "server_error"},
        {"error is null", R"({"error":null})", "", "", "", ""},
        {"error is a list", R"({"error":[1]})", "", "", "", ""},
        {"members of wrong types", R"({"error":{"message":{},"type":1,"param":[],"code":{}}})", "", "", "", ""},
        {"a plain sentence", "upstream connect error\n", "upstream connect error", "", "", ""},
        {"a page", "<html><body>502</body></html>", "", "", "", ""},
        {"cut JSON", R"({"error":{"message":"ba)", "", "", "", ""},
        {"bytes", "\xff\xfe\x01", "", "", "", ""},
        {"invalid UTF-8 in JSON", "{\"error\":\"\xff\"}", "", "", "", ""},
        {"a list", "[1,2]", "", "", "", ""},
        {"a number", "42", "", "", "", ""},
        {"nothing", "", "", "", "", ""},
    };
    for (const ShapeCase& each : cases) {
        const EngineError error = parse_error_body(400, each.body);
        EXPECT_EQ(error.message, each.message) << each.name;
        EXPECT_EQ(error.type, each.type) << each.name;
        EXPECT_EQ(error.param, each.param) << each.name;
        EXPECT_EQ(error.code, each.code) << each.name;
        EXPECT_FALSE(error.is_context_overflow) << each.name;
        EXPECT_FALSE(error.is_model_missing) << each.name;
    }
}

struct OverflowCase {
    std::string name;
    std::string message;
    std::optional<std::uint64_t> prompt;
    std::optional<std::uint64_t> context;
};

TEST(ErrorBody, ContextOverflowIsKnownFromEveryEnginesSentence) {
    const std::vector<OverflowCase> cases{
        {"vLLM",
         "This model's maximum context length is 4096 tokens. However, you requested 512 output tokens and your prompt "
         "contains 4000 input tokens, "
         "for a total of 4512 tokens. Please reduce the length.",
         4000, 4096},
        {"vLLM, at least",
         "This model's maximum context length is 4096 tokens. However, you requested 512 output tokens and your prompt "
         "contains at least 3585 input "
         "tokens, for a total of at least 4097 tokens.",
         3585, 4096},
        {"vLLM, older",
         "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4488 in the "
         "messages, 512 in the completion).",
         4488, 4096},
        {"vLLM, decoder prompt",
         "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure", 5000, 4096},
        {"vLLM, characters",
         "This model's maximum context length is 4096 tokens. However, your prompt contains 99999 characters (more "
         "than 20000)",
         std::nullopt, 4096},
        {"SGLang", "The input (5000 tokens) is longer than the model's context length (4096 tokens).", 5000, 4096},
        {"SGLang, total",
         "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of "
         "5000 tokens: 4488 tokens from the "
         "input messages and 512 tokens for the completion.",
         4488, 4096},
        {"llama.cpp", "request (6004 tokens) exceeds the available context size (1024 tokens), try increasing it", 6004,
         1024},
        {"a number that is too large", "This model's maximum context length is 99999999999999999999999 tokens.",
         std::nullopt, std::nullopt},
        {"no number", "maximum context length is unknown", std::nullopt, std::nullopt},
    };
    for (const OverflowCase& each : cases) {
        for (const int status : {400, 413, 0}) {
            const EngineError error =
                parse_error_body(status, R"({"error":{"code":400,"message":")" + each.message + R"("}})");
            EXPECT_TRUE(error.is_context_overflow) << each.name << " " << status;
            EXPECT_EQ(error.prompt_tokens, each.prompt) << each.name;
            EXPECT_EQ(error.context_tokens, each.context) << each.name;
        }
        EXPECT_FALSE(parse_error_body(500, R"({"error":{"message":")" + each.message + R"("}})").is_context_overflow)
            << each.name;
    }
    EXPECT_TRUE(parse_error_body(400, R"({"error":{"message":"too long","code":"context_length_exceeded"}})")
                    .is_context_overflow);
}

TEST(ErrorBody, AMissingModelIsToldFromAMissingPath) {
    const std::vector<std::pair<std::string, bool>> bodies{
        {R"({"error":{"message":"The model `X` does not exist.","type":"NotFoundError","param":"model","code":404}})",
         true},
        {R"({"object":"error","message":"The model `X` does not exist.","type":"NotFoundError","param":null,"code":404})",
         true},
        {R"({"error":{"message":"no access","code":"model_not_found"}})", true},
        {R"({"error":{"message":"Model not found: X","type":"not_found_error"}})", true},
        {R"({"detail":"Not Found"})", false},
        {"", false},
    };
    for (const auto& [body, expected] : bodies) {
        EXPECT_EQ(parse_error_body(404, body).is_model_missing, expected) << body;
        EXPECT_FALSE(parse_error_body(400, body).is_model_missing) << body;
    }
    EXPECT_FALSE(parse_error_body(404, recording("61-err-method").body).is_model_missing);
}

TEST(ErrorBody, RecordedAnswers) {
    struct RecordedCase {
        std::string name;
        int status;
        std::string type;
        std::string code;
        bool overflow;
    };
    const std::vector<RecordedCase> cases{
        {"48-err-context-overflow", 400, "exceed_context_size_error", "400", true},
        {"49-err-context-overflow-stream", 400, "exceed_context_size_error", "400", true},
        {"53-err-bad-json", 500, "server_error", "500", false},
        {"55-err-no-messages", 400, "invalid_request_error", "400", false},
        {"61-err-method", 404, "not_found_error", "404", false},
        {"62-err-embeddings-off", 501, "not_supported_error", "501", false},
        {"82-loading-chat", 503, "unavailable_error", "503", false},
        {"89-auth-missing", 401, "authentication_error", "401", false},
        {"117-err-embeddings-too-long", 500, "server_error", "500", true},
        {"118-err-embeddings-no-input", 400, "invalid_request_error", "400", false},
    };
    for (const RecordedCase& each : cases) {
        const Recording answer = recording(each.name);
        const EngineError error = parse_error_body(answer.status, answer.body);
        EXPECT_EQ(answer.status, each.status) << each.name;
        EXPECT_EQ(error.type, each.type) << each.name;
        EXPECT_EQ(error.code, each.code) << each.name;
        EXPECT_FALSE(error.message.empty()) << each.name;
        EXPECT_EQ(error.is_context_overflow, each.overflow) << each.name;
    }
    const EngineError overflow = parse_error_body(400, recording("48-err-context-overflow").body);
    EXPECT_EQ(overflow.prompt_tokens, 6004U);
    EXPECT_EQ(overflow.context_tokens, 1024U);
    const EngineError input = parse_error_body(500, recording("117-err-embeddings-too-long").body);
    EXPECT_EQ(input.prompt_tokens, 1802U);
    EXPECT_EQ(input.context_tokens, 512U);
}

TEST(ErrorBody, LongMessagesAreCutBetweenCharacters) {
    std::string text = "x";
    while (text.size() < 3 * max_message_bytes)
        text += "\xE2\x82\xAC";
    const EngineError error = parse_error_body(400, R"({"error":")" + text + R"("})");
    EXPECT_LE(error.message.size(), max_message_bytes);
    EXPECT_GT(error.message.size(), max_message_bytes - 4);
    EXPECT_TRUE(base::is_valid_utf8(error.message));
}

TEST(ErrorBody, SurvivesWhateverComes) {
    constexpr std::uint64_t seed = 1130;
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Random random{seed};
    const std::string valid = recording("48-err-context-overflow").body;
    for (int round = 0; round < 5000; ++round) {
        std::string bytes = valid.substr(0, random.below(valid.size() + 1));
        for (std::uint64_t flips = random.below(4); flips > 0 && !bytes.empty(); --flips)
            bytes[random.below(bytes.size())] = static_cast<char>(random());
        const EngineError error = parse_error_body(400, bytes);
        EXPECT_LE(error.message.size(), max_message_bytes);
        EXPECT_TRUE(base::is_valid_utf8(error.message));
    }
    const std::string deep = std::string(100'000, '[');
    EXPECT_EQ(parse_error_body(400, deep).message, "");
}

TEST(ErrorBody, ABodyThatNeverCameIsAnErrorWithoutText) {
    const auto error = parse_error_body(502, std::string_view{});
    EXPECT_TRUE(error.message.empty());
    EXPECT_FALSE(error.is_context_overflow);
}

}  // namespace
}  // namespace weir::engine
