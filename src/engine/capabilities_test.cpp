#include "engine/capabilities.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace weir::engine {
namespace {

using config::Engine;
using config::SpeculationMethod;
using model::Feature;
using routing::Capability;

struct CapabilityCase {
    Engine engine;
    std::string version;  // "" = not known
    SpeculationMethod method;
    Feature feature;
    Capability expected;
};

std::string describe(const CapabilityCase& each) {
    return std::string{config::name_of(each.engine)} + " " + each.version + " " +
           std::string{config::name_of(each.method)} + " " + std::string{model::name_of(each.feature)};
}

void expect_all(const std::vector<CapabilityCase>& cases) {
    for (const CapabilityCase& each : cases) {
        const EngineIdentity identity{
            .engine = each.engine, .version = parse_version(each.version), .method = each.method};
        EXPECT_EQ(capability_of(identity, each.feature).capability, each.expected)
            << describe(each) << ": " << routing::name_of(capability_of(identity, each.feature).capability);
    }
}

// Where the engines' own shapes differ there is no standard.
bool is_standard(Feature feature) {
    return feature != Feature::encoding_format && feature != Feature::tokenize_prompt &&
           feature != Feature::tokenize_messages && feature != Feature::tokenize_content;
}

TEST(Capabilities, WithoutSpeculationStandardFeaturesAreOk) {
    for (const Engine engine : {Engine::vllm, Engine::sglang, Engine::openai})
        for (const Feature feature : model::all_features)
            if (is_standard(feature))
                expect_all({{engine, "0.22.1", SpeculationMethod::none, feature, Capability::ok},
                            {engine, "", SpeculationMethod::none, feature, Capability::ok}});
}

TEST(Capabilities, WithSpeculationWhatNobodyKnowsIsUnknown) {
    expect_all({
        {Engine::vllm, "0.22.1", SpeculationMethod::eagle3, Feature::tools, Capability::unknown},
        {Engine::vllm, "0.22.1", SpeculationMethod::eagle3, Feature::prompt_logprobs, Capability::unknown},
        {Engine::sglang, "0.5.15", SpeculationMethod::eagle3, Feature::tools, Capability::unknown},
        {Engine::openai, "", SpeculationMethod::other, Feature::logprobs, Capability::unknown},
    });
}

TEST(Capabilities, VllmByVersion) {
    constexpr auto eagle3 = SpeculationMethod::eagle3;
    expect_all({
        {Engine::vllm, "0.13.2", eagle3, Feature::min_p, Capability::ignored},
        {Engine::vllm, "0.14.0", eagle3, Feature::min_p, Capability::rejected},
        {Engine::vllm, "0.23.1rc1.dev1120+g0f0f28b53", eagle3, Feature::logit_bias, Capability::rejected},
        {Engine::vllm, "0.13.2", eagle3, Feature::min_tokens, Capability::unknown},
        {Engine::vllm, "0.16.9", eagle3, Feature::min_tokens, Capability::rejected},
        {Engine::vllm, "0.17.0", eagle3, Feature::min_tokens, Capability::ok},
        {Engine::vllm, "0.13.0", eagle3, Feature::penalties, Capability::degraded},
        {Engine::vllm, "0.14.0", eagle3, Feature::penalties, Capability::ok},
        {Engine::vllm, "0.11.0", eagle3, Feature::logprobs, Capability::degraded},
        {Engine::vllm, "0.11.1", eagle3, Feature::logprobs, Capability::ok},
        {Engine::vllm, "0.13.0", eagle3, Feature::structured_output, Capability::unknown},
        {Engine::vllm, "0.14.0", eagle3, Feature::structured_output, Capability::ok},
        {Engine::vllm, "0.26.0", SpeculationMethod::mtp, Feature::prompt_logprobs, Capability::wrong},
        {Engine::vllm, "0.25.9", SpeculationMethod::mtp, Feature::prompt_logprobs, Capability::unknown},
        {Engine::vllm, "0.22.0", SpeculationMethod::ngram, Feature::media, Capability::unknown},
        {Engine::vllm, "0.22.0", eagle3, Feature::media, Capability::degraded},
        {Engine::vllm, "0.22.0", eagle3, Feature::best_of, Capability::rejected},
        {Engine::vllm, "0.22.0", eagle3, Feature::multiple_choices, Capability::ok},
    });
}

// A version that is not known yet must not open what some version does wrongly.
TEST(Capabilities, AnUnknownVersionIsJudgedWithCaution) {
    constexpr auto eagle3 = SpeculationMethod::eagle3;
    expect_all({
        {Engine::vllm, "", eagle3, Feature::min_p, Capability::rejected},
        {Engine::vllm, "", eagle3, Feature::min_tokens, Capability::unknown},
        {Engine::vllm, "", eagle3, Feature::logprobs, Capability::unknown},
        {Engine::vllm, "", eagle3, Feature::multiple_choices, Capability::ok},
        {Engine::vllm, "", SpeculationMethod::mtp, Feature::prompt_logprobs, Capability::wrong},
        {Engine::llamacpp, "", SpeculationMethod::draft_model, Feature::logprobs, Capability::wrong},
    });
}

TEST(Capabilities, SglangAndLlamacpp) {
    constexpr auto draft = SpeculationMethod::draft_model;
    constexpr auto none = SpeculationMethod::none;
    expect_all({
        {Engine::sglang, "0.5.15", SpeculationMethod::eagle3, Feature::min_p, Capability::ignored},
        {Engine::sglang, "0.5.15", SpeculationMethod::dflash, Feature::min_p, Capability::unknown},
        {Engine::sglang, "0.5.15", SpeculationMethod::ngram, Feature::penalties, Capability::degraded},
        {Engine::sglang, "0.5.15", SpeculationMethod::eagle, Feature::logprobs, Capability::ok},
        {Engine::sglang, "0.5.10", SpeculationMethod::eagle, Feature::logprobs, Capability::unknown},
        {Engine::llamacpp, "b10587-3f545becc", draft, Feature::logprobs, Capability::wrong},
        {Engine::llamacpp, "b10587-3f545becc", none, Feature::logprobs, Capability::ok},
        {Engine::llamacpp, "b10587-3f545becc", draft, Feature::min_p, Capability::ok},
        {Engine::llamacpp, "b10587-3f545becc", draft, Feature::structured_output, Capability::ok},
        {Engine::llamacpp, "b10587-3f545becc", draft, Feature::media, Capability::rejected},
        {Engine::llamacpp, "b10587-3f545becc", none, Feature::media, Capability::ok},
        {Engine::llamacpp, "b10587-3f545becc", draft, Feature::multiple_choices, Capability::degraded},
        {Engine::llamacpp, "b10587-3f545becc", none, Feature::min_tokens, Capability::ignored},
        {Engine::llamacpp, "b10587-3f545becc", none, Feature::best_of, Capability::rejected},
    });
}

TEST(Capabilities, EmbeddingsAndTokenize) {
    constexpr auto none = SpeculationMethod::none;
    expect_all({
        {Engine::vllm, "0.22.0", none, Feature::encoding_format, Capability::ok},
        {Engine::sglang, "0.5.15", none, Feature::encoding_format, Capability::ignored},
        {Engine::llamacpp, "b10587", none, Feature::encoding_format, Capability::ok},
        {Engine::vllm, "", none, Feature::dimensions, Capability::ok},
        {Engine::llamacpp, "", none, Feature::dimensions, Capability::ignored},
        {Engine::vllm, "0.22.0", none, Feature::tokenize_prompt, Capability::ok},
        {Engine::vllm, "0.22.0", SpeculationMethod::dspark, Feature::tokenize_content, Capability::rejected},
        {Engine::sglang, "0.5.15", none, Feature::tokenize_prompt, Capability::ok},
        {Engine::sglang, "0.5.15", none, Feature::tokenize_messages, Capability::rejected},
        {Engine::llamacpp, "b10587", none, Feature::tokenize_content, Capability::ok},
        {Engine::llamacpp, "b10587", none, Feature::tokenize_prompt, Capability::ignored},
        {Engine::llamacpp, "b10587", SpeculationMethod::draft_model, Feature::tokenize_messages, Capability::ignored},
        {Engine::openai, "", none, Feature::tokenize_content, Capability::ok},
    });
}

TEST(Capabilities, AllFeaturesAtOnce) {
    const auto capabilities = capabilities_of(
        {.engine = Engine::llamacpp, .version = parse_version("b10587"), .method = SpeculationMethod::draft_model});
    EXPECT_TRUE(capabilities.unreliable().contains(Feature::logprobs));
    EXPECT_TRUE(capabilities.rejected().contains(Feature::media));
    EXPECT_FALSE(capabilities.rejected().contains(Feature::tools));
    for (const Feature feature : model::all_features)
        EXPECT_EQ(capabilities.of(feature), capability_of({.engine = Engine::llamacpp,
                                                           .version = parse_version("b10587"),
                                                           .method = SpeculationMethod::draft_model},
                                                          feature)
                                                .capability);
}

TEST(Capabilities, WhatExcludesHasEvidence) {
    for (const Engine engine : {Engine::vllm, Engine::sglang, Engine::llamacpp})
        for (const Feature feature : model::all_features) {
            const auto found = capability_of(
                {.engine = engine, .version = Version{.major = 1}, .method = SpeculationMethod::mtp}, feature);
            if (found.capability != Capability::unknown) {
                EXPECT_FALSE(found.evidence.empty()) << model::name_of(feature);
            }
        }
}

TEST(Version, IsReadFromTheEnginesSpelling) {
    struct VersionCase {
        std::string text;
        std::optional<Version> expected;
    };
    const std::vector<VersionCase> cases{
        {"0.11.1", Version{0, 11, 1}},
        {"v0.11.1", Version{0, 11, 1}},
        {"0.23.1rc1.dev1120+g0f0f28b53", Version{0, 23, 1}},
        {"0.22", Version{0, 22, 0}},
        {"0.22.x", Version{0, 22, 0}},
        {"1", Version{1, 0, 0}},
        {"b10587-3f545becc", Version{10587, 0, 0}},
        {"b10587.5", Version{10587, 0, 0}},
        {"", std::nullopt},
        {"b", std::nullopt},
        {"dev", std::nullopt},
        {"-1.2", std::nullopt},
        {"99999999999", std::nullopt},
    };
    for (const VersionCase& each : cases)
        EXPECT_EQ(parse_version(each.text), each.expected) << each.text;
    EXPECT_LT(*parse_version("0.9.2"), *parse_version("0.11.0"));
}

}  // namespace
}  // namespace weir::engine
