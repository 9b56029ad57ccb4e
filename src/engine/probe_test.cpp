#include "engine/probe.h"

#include "base/random.h"
#include "engine/recording.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::engine {
namespace {

TEST(Probe, HealthIsWhatTheEngineSaysOfItself) {
    struct HealthCase {
        std::string name;
        int status;
        std::string body;
        HealthAnswer expected;
    };
    const std::vector<HealthCase> cases{
        {"vLLM", 200, "", HealthAnswer::healthy},
        {"llama.cpp", recording("01-get-health").status, recording("01-get-health").body, HealthAnswer::healthy},
        {"llama.cpp while loading", recording("81-loading-health").status, recording("81-loading-health").body,
         HealthAnswer::loading},
        {"vLLM while scaling", 503, R"({"error":"The model is currently scaling. Please try again later."})",
         HealthAnswer::loading},
        {"told by the type alone", 503, R"({"error":{"message":"wait","type":"unavailable_error"}})",
         HealthAnswer::loading},
        {"told by a sentence alone", 503, "Loading model", HealthAnswer::loading},
        {"another 503", 503, R"({"error":{"message":"no","type":"server_error"}})", HealthAnswer::unhealthy},
        {"vLLM, engine dead", 503, "", HealthAnswer::unhealthy},
        {"a redirect", 307, "", HealthAnswer::failed},
        {"no such path", 404, R"({"detail":"Not Found"})", HealthAnswer::failed},
        {"our credential is refused", 401, "", HealthAnswer::failed},
        {"a proxy in between", 502, "<html>", HealthAnswer::failed},
        {"too many requests", 429, "", HealthAnswer::failed},
    };
    for (const HealthCase& each : cases)
        EXPECT_EQ(interpret_health(each.status, each.body), each.expected) << each.name;
}

TEST(Probe, RecordedLlamacppIsDiscovered) {
    const auto models = parse_models(recording("02-get-models").body);
    const auto properties = parse_llamacpp_properties(recording("03-get-props").body);
    ASSERT_TRUE(models.has_value());
    ASSERT_TRUE(properties.has_value());
    EXPECT_EQ(properties->sleeping, false);
    Discovery found;
    merge(found, *models);
    merge(found, *properties);
    const Discovery expected{.engine_version = "b10587-3f545becc",
                             .model_ids = {"harbor-mid"},
                             .model_path = "/srv/inference/models/mid-target-a.gguf",
                             .speculation = "none",
                             .context_tokens = 1024,
                             .slots = 4};
    EXPECT_EQ(found, expected);
}

// The shape of facts/engines.md 2.1, with a LoRA adapter that has no length of its own.
constexpr std::string_view vllm_models = R"({"object":"list","data":[
  {"id":"my-lora","object":"model","created":1,"owned_by":"vllm","root":"adapters/my-lora","parent":"chat","max_model_len":null,"permission":[]},
  {"id":"chat","object":"model","created":1,"owned_by":"vllm","root":"meta-llama/Llama-3.3-70B","parent":null,"max_model_len":32768,"permission":[]}]})";

TEST(Probe, VllmModelsAndVersion) {
    const auto models = parse_models(vllm_models);
    ASSERT_TRUE(models.has_value());
    ASSERT_EQ(models->size(), 2U);
    EXPECT_EQ((*models)[0].parent, "chat");
    EXPECT_FALSE((*models)[0].context_tokens.has_value());
    EXPECT_EQ((*models)[1].owned_by, "vllm");
    Discovery found;
    merge(found, *models);
    EXPECT_EQ(found.model_ids, (std::vector<std::string>{"my-lora", "chat"}));
    EXPECT_EQ(found.model_path, "meta-llama/Llama-3.3-70B");
    EXPECT_EQ(found.context_tokens, 32768U);
    EXPECT_EQ(parse_version_answer(R"({"version":"0.22.1"})").value_or(""), "0.22.1");
}

TEST(Probe, SglangServerInfo) {
    const auto info = parse_sglang_server_info(
        R"({"model_path":"qwen","speculative_algorithm":"EAGLE3","max_running_requests":48,"context_length":null,"version":"0.5.15","internal_states":[]})");
    ASSERT_TRUE(info.has_value());
    EXPECT_EQ(info->version, "0.5.15");
    EXPECT_EQ(info->speculation, "EAGLE3");
    EXPECT_EQ(info->slots, 48U);
    EXPECT_FALSE(info->context_tokens.has_value());
}

TEST(Probe, WhatIsNotToldStaysAsItWas) {
    Discovery found{.engine_version = "1",
                    .model_ids = {"a"},
                    .model_path = "p",
                    .speculation = "s",
                    .context_tokens = 5,
                    .slots = 6};
    const Discovery before = found;
    merge(found, Properties{});
    EXPECT_EQ(found, before);
    merge(found,
          Properties{
              .version = "2", .model_path = "", .speculation = "", .context_tokens = 7, .slots = {}, .sleeping = {}});
    EXPECT_EQ(found.engine_version, "2");
    EXPECT_EQ(found.context_tokens, 7U);
    EXPECT_EQ(found.slots, 6U);
}

TEST(Probe, AnswersOfAnotherKindAreErrors) {
    for (const std::string body : {"", "null", "[]", "{", "<html>", "{\"data\":{}}", "{\"data\":null}"})
        EXPECT_FALSE(parse_models(body).has_value()) << body;
    for (const std::string body : {"", "null", "[]", "42"}) {
        EXPECT_FALSE(parse_llamacpp_properties(body).has_value()) << body;
        EXPECT_FALSE(parse_sglang_server_info(body).has_value()) << body;
    }
    for (const std::string body : {"", "{}", "{\"version\":1}", "{\"version\":\"\"}"})
        EXPECT_FALSE(parse_version_answer(body).has_value()) << body;
    EXPECT_EQ(parse_models(recording("93-auth-models").body).error().code(), base::ErrorCode::protocol);
}

TEST(Probe, MembersOfWrongTypesAreAbsent) {
    const auto models = parse_models(
        R"({"data":[{"id":7},5,{"id":"ok","root":[],"parent":1,"max_model_len":-1},{"id":"f","max_model_len":1.5}]})");
    ASSERT_TRUE(models.has_value());
    ASSERT_EQ(models->size(), 2U);
    EXPECT_EQ((*models)[0].id, "ok");
    EXPECT_FALSE((*models)[0].context_tokens.has_value());
    EXPECT_FALSE((*models)[1].context_tokens.has_value());
    const auto properties =
        parse_llamacpp_properties(R"({"total_slots":"4","default_generation_settings":5,"build_info":{}})");
    ASSERT_TRUE(properties.has_value());
    EXPECT_FALSE(properties->slots.has_value());
    EXPECT_EQ(properties->version, "");
}

TEST(Probe, WhatIsRememberedIsBounded) {
    std::string many = R"({"data":[)";
    for (int index = 0; index < 1000; ++index)
        many += R"({"id":"m"},)";
    const auto models = parse_models(many + R"({"id":"last"}]})");
    ASSERT_TRUE(models.has_value());
    EXPECT_EQ(models->size(), 256U);
    const auto long_id = parse_models(R"({"data":[{"id":")" + std::string(513, 'x') + R"("}]})");
    ASSERT_TRUE(long_id.has_value());
    EXPECT_TRUE(long_id->empty());
}

TEST(Probe, SurvivesWhateverComes) {
    constexpr std::uint64_t seed = 77;
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Random random{seed};
    for (const std::string& valid : {std::string{vllm_models}, recording("03-get-props").body}) {
        for (int round = 0; round < 1000; ++round) {
            std::string bytes = valid.substr(0, random.below(valid.size() + 1));
            for (std::uint64_t flips = random.below(3); flips > 0 && !bytes.empty(); --flips)
                bytes[random.below(bytes.size())] = static_cast<char>(random());
            std::size_t understood = 0;
            understood += parse_models(bytes).has_value() ? 1 : 0;
            understood += parse_llamacpp_properties(bytes).has_value() ? 1 : 0;
            understood += interpret_health(503, bytes) == HealthAnswer::loading ? 1 : 0;
            EXPECT_LE(understood, 3U);
        }
    }
}

}  // namespace
}  // namespace weir::engine
