#include "engine/contract_facts.h"

#include <gtest/gtest.h>

namespace weir::engine {
namespace {

using config::Engine;
using config::SpeculationMethod;
using model::Feature;

struct Case {
    Engine engine;
    SpeculationMethod method;
    Feature feature;
    std::string_view expected;
};

TEST(ContractFacts, SayWhyAPromiseIsNotKept) {
    const Case cases[] = {
        {Engine::vllm, SpeculationMethod::none, Feature::tools, ""},
        {Engine::vllm, SpeculationMethod::eagle3, Feature::multiple_choices, ""},
        {Engine::vllm, SpeculationMethod::eagle3, Feature::tools,
         "it is not known whether vllm honours tools with eagle3"},
        {Engine::vllm, SpeculationMethod::eagle3, Feature::min_p,
         "vllm rejects min_p with eagle3 (400 since vllm#31982)"},
        {Engine::llamacpp, SpeculationMethod::draft_model, Feature::logprobs,
         "llamacpp answers wrongly to logprobs with draft_model (llama.cpp#27972: 0.0 for speculated tokens)"},
        {Engine::llamacpp, SpeculationMethod::none, Feature::dimensions,
         "llamacpp ignores dimensions (unknown members are ignored)"},
        {Engine::llamacpp, SpeculationMethod::draft_model, Feature::multiple_choices, ""},
    };
    const auto facts = contract_facts();
    for (const auto& c : cases) {
        config::Pool pool;
        pool.engine = c.engine;
        pool.speculation.method = c.method;
        EXPECT_EQ(facts.objection(pool, c.feature), c.expected);
    }
}

TEST(ContractFacts, EndpointsAreThoseOfTheEngineFamily) {
    config::Pool pool;
    pool.engine = Engine::vllm;
    EXPECT_TRUE(contract_facts().endpoints(pool).contains(model::Endpoint::tokenize));
    EXPECT_FALSE(contract_facts().endpoints(pool).contains(model::Endpoint::embeddings));
    pool.engine = Engine::openai;
    EXPECT_FALSE(contract_facts().endpoints(pool).contains(model::Endpoint::tokenize));
}

}  // namespace
}  // namespace weir::engine
