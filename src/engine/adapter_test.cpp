#include "engine/adapter.h"

#include "engine/json_document.h"
#include "engine/recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace weir::engine {
namespace {

using config::Engine;

constexpr std::array engines{Engine::vllm, Engine::sglang, Engine::llamacpp, Engine::openai};

bool contains(std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

TEST(Adapter, EveryEngineHasItsOwn) {
    for (const Engine engine : engines)
        EXPECT_EQ(adapter_for(engine).engine, engine);
}

TEST(Adapter, UsageIsAskedForWhereNothingElseTells) {
    EXPECT_TRUE(adapter_for(Engine::vllm).needs_include_usage);
    EXPECT_TRUE(adapter_for(Engine::sglang).needs_include_usage);
    EXPECT_TRUE(adapter_for(Engine::openai).needs_include_usage);
    EXPECT_FALSE(adapter_for(Engine::llamacpp).needs_include_usage);
}

TEST(Adapter, EngineVersionsAndStatisticsArePrivate) {
    for (const Engine engine : engines)
        EXPECT_TRUE(contains(adapter_for(engine).private_members, "system_fingerprint"));
    EXPECT_TRUE(contains(adapter_for(Engine::vllm).private_members, "metrics"));
    EXPECT_TRUE(contains(adapter_for(Engine::vllm).private_members, "output_token_metrics"));
    EXPECT_TRUE(contains(adapter_for(Engine::llamacpp).private_members, "timings"));
}

// What the client asked for, or must have, is never private.
TEST(Adapter, MembersOfTheApiAreNotPrivate) {
    for (const Engine engine : engines)
        for (const std::string_view member :
             {"id", "object", "created", "model", "choices", "usage", "error", "metadata", "prompt_logprobs"})
            EXPECT_FALSE(contains(adapter_for(engine).private_members, member)) << member;
}

TEST(Adapter, ARecordedAnswerHasThePrivateMembers) {
    const auto answer = JsonDocument::parse(recording("08-chat-nonstream-spec").body);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->kind("/timings"), JsonKind::object);
    EXPECT_EQ(answer->kind("/system_fingerprint"), JsonKind::string);
}

TEST(Adapter, HeadersThatSteerTheEngineAreWithheld) {
    EXPECT_TRUE(contains(adapter_for(Engine::llamacpp).withheld_headers, "x-conversation-id"));
    EXPECT_TRUE(contains(adapter_for(Engine::vllm).withheld_headers, "x-data-parallel-rank"));
    for (const Engine engine : engines)
        for (const std::string_view name : adapter_for(engine).withheld_headers)
            EXPECT_TRUE(std::ranges::none_of(name, [](char letter) { return letter >= 'A' && letter <= 'Z'; })) << name;
}

TEST(Adapter, TheFirstEventIsOneTokenOnlyWhereThatIsKnown) {
    EXPECT_EQ(adapter_for(Engine::vllm).tokens_in_first_event, 1U);
    EXPECT_EQ(adapter_for(Engine::llamacpp).tokens_in_first_event, 1U);
    EXPECT_FALSE(adapter_for(Engine::sglang).tokens_in_first_event.has_value());
    EXPECT_FALSE(adapter_for(Engine::openai).tokens_in_first_event.has_value());
}

TEST(Adapter, ProbesArePathsThatTheEngineHas) {
    EXPECT_EQ(adapter_for(Engine::vllm).version_path, "/version");
    EXPECT_EQ(adapter_for(Engine::llamacpp).properties_path, "/props");
    EXPECT_EQ(adapter_for(Engine::openai).health_path, "/v1/models");
    for (const Engine engine : engines) {
        EXPECT_TRUE(adapter_for(engine).health_path.starts_with('/'));
        EXPECT_EQ(adapter_for(engine).models_path, "/v1/models");
    }
}

}  // namespace
}  // namespace weir::engine
