#include "routing/eligibility.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace weir::routing {
namespace {

using model::Feature;
using model::Ineligible;

constexpr auto huge = std::numeric_limits<std::uint64_t>::max();

// A pool, a request, a contract and a tenant that fit; a case states only what differs.
struct Situation {
    PoolFacts facts;
    AliasPool pool;
    RequestFacts request;
    ContractFacts contract;
    PolicyFacts tenant;

    Situation() {
        facts.name = "ar";
        facts.family = contract.family = "llama";
        facts.endpoints.add(model::Endpoint::chat_completions);
        facts.context_tokens = 8192;
        facts.region = "eu-west";
    }
    void speculate() {
        facts.speculative = true;
        facts.capabilities = Capabilities::all(Capability::unknown);
        pool.admitted = true;
    }
    [[nodiscard]] Verdict verdict() {
        pool.facts = &facts;
        return judge_pool(pool, request, contract, tenant);
    }
};

struct EligibilityCase {
    std::string name;
    std::function<void(Situation&)> difference;
    std::optional<Ineligible> expected;
    std::string parameter;
};

void expect_all(const std::vector<EligibilityCase>& cases) {
    for (const EligibilityCase& each : cases) {
        Situation situation;
        each.difference(situation);
        const Verdict verdict = situation.verdict();
        EXPECT_EQ(verdict.reason, each.expected)
            << each.name << ": " << (verdict.reason ? model::name_of(*verdict.reason) : "eligible");
        EXPECT_EQ(verdict.parameter, each.parameter) << each.name;
    }
}

TEST(Eligibility, ShapeOfTheRequest) {
    expect_all({
        {"a fitting pool", [](Situation&) {}, std::nullopt, ""},
        {"another family", [](Situation& s) { s.facts.family = "qwen"; }, Ineligible::alias_mismatch, ""},
        {"disabled", [](Situation& s) { s.pool.state.disabled = true; }, Ineligible::disabled, ""},
        {"another endpoint", [](Situation& s) { s.request.endpoint = model::Endpoint::embeddings; },
         Ineligible::endpoint_unsupported, ""},
        {"streaming", [](Situation& s) { s.request.stream = true; }, std::nullopt, ""},
        {"no streaming here",
         [](Situation& s) {
             s.request.stream = true;
             s.facts.streaming = false;
         },
         Ineligible::streaming_unsupported, ""},
        {"no streaming here, none asked", [](Situation& s) { s.facts.streaming = false; }, std::nullopt, ""},
    });
}

// The request uses min_p; the pool speculates and does `capability` with it.
EligibilityCase min_p_case(Capability capability, bool promised, std::optional<Ineligible> expected) {
    return {std::string{name_of(capability)} + (promised ? ", promised" : ""),
            [=](Situation& s) {
                s.speculate();
                s.request.features.add(Feature::min_p);
                s.facts.capabilities.set(Feature::min_p, capability);
                if (promised) s.contract.promised.add(Feature::min_p);
            },
            expected, expected.has_value() ? "min_p" : ""};
}

TEST(Eligibility, WhatAnEngineDoesWithAParameter) {
    expect_all({
        min_p_case(Capability::ok, true, std::nullopt),
        min_p_case(Capability::degraded, true, std::nullopt),
        min_p_case(Capability::rejected, false, Ineligible::parameter_unsupported),
        min_p_case(Capability::ignored, false, Ineligible::parameter_unreliable),
        min_p_case(Capability::wrong, false, Ineligible::parameter_unreliable),
        min_p_case(Capability::unknown, false, std::nullopt),
        min_p_case(Capability::unknown, true, Ineligible::parameter_unreliable),
    });
}

TEST(Eligibility, ParametersThatAreNotUsedDoNotMatter) {
    expect_all({
        {"unused", [](Situation& s) { s.facts.capabilities = Capabilities::all(Capability::rejected); }, std::nullopt,
         ""},
        {"denied but unused", [](Situation& s) { s.facts.denied.add(Feature::tools); }, std::nullopt, ""},
        {"denied and used",
         [](Situation& s) {
             s.facts.denied.add(Feature::tools);
             s.request.features.add(Feature::tools);
         },
         Ineligible::parameter_unsupported, "tools"},
        {"promised and unknown, but another one used",
         [](Situation& s) {
             s.speculate();
             s.contract.promised.add(Feature::logprobs);
             s.request.features.add(Feature::tools);
         },
         std::nullopt, ""},
        {"the one at fault is named",
         [](Situation& s) {
             s.request.features.add(Feature::tools);
             s.request.features.add(Feature::logit_bias);
             s.facts.capabilities.set(Feature::logit_bias, Capability::rejected);
         },
         Ineligible::parameter_unsupported, "logit_bias"},
        {"unsupported is told before unreliable",
         [](Situation& s) {
             s.request.features.add(Feature::logprobs);
             s.request.features.add(Feature::min_p);
             s.facts.capabilities.set(Feature::logprobs, Capability::wrong);
             s.facts.capabilities.set(Feature::min_p, Capability::rejected);
         },
         Ineligible::parameter_unsupported, "min_p"},
    });
}

TEST(Eligibility, ContextExcludesOnlyOnCertainty) {
    expect_all({
        {"nothing known of the prompt", [](Situation& s) { s.request.max_tokens = 8192; }, std::nullopt, ""},
        {"output alone is too long", [](Situation& s) { s.request.max_tokens = 8193; }, Ineligible::context_exceeded,
         ""},
        {"an upper bound never excludes", [](Situation& s) { s.request.prompt_tokens_at_most = 1'000'000; },
         std::nullopt, ""},
        {"a lower bound does", [](Situation& s) { s.request.prompt_tokens_at_least = 8193; },
         Ineligible::context_exceeded, ""},
        {"prompt and output, exactly",
         [](Situation& s) {
             s.request.prompt_tokens_at_least = 8000;
             s.request.max_tokens = 192;
         },
         std::nullopt, ""},
        {"prompt and output, one over",
         [](Situation& s) {
             s.request.prompt_tokens_at_least = 8000;
             s.request.max_tokens = 193;
         },
         Ineligible::context_exceeded, ""},
        {"sums do not wrap",
         [](Situation& s) {
             s.request.prompt_tokens_at_least = 2;
             s.request.max_tokens = huge;
         },
         Ineligible::context_exceeded, ""},
        {"context not known",
         [](Situation& s) {
             s.facts.context_tokens.reset();
             s.request.max_tokens = huge;
         },
         std::nullopt, ""},
        {"the alias promises less than the pool has",
         [](Situation& s) {
             s.contract.context_tokens = 4096;
             s.request.max_tokens = 4097;
         },
         Ineligible::context_exceeded, ""},
    });
}

TEST(Eligibility, Policy) {
    expect_all({
        {"the region is allowed", [](Situation& s) { s.contract.policy.regions = {"us-east", "eu-west"}; },
         std::nullopt, ""},
        {"the alias forbids it", [](Situation& s) { s.contract.policy.regions = {"us-east"}; },
         Ineligible::region_forbidden, ""},
        {"the tenant forbids it", [](Situation& s) { s.tenant.regions = {"us-east"}; }, Ineligible::region_forbidden,
         ""},
        {"a pool without a region satisfies no demand",
         [](Situation& s) {
             s.facts.region = "";
             s.tenant.regions = {"eu-west"};
         },
         Ineligible::region_forbidden, ""},
        {"a policy is provided",
         [](Situation& s) {
             s.facts.provides = {"no-retention", "hipaa"};
             s.contract.policy.data_policies = {"hipaa"};
             s.tenant.data_policies = {"no-retention"};
         },
         std::nullopt, ""},
        {"one of two policies is not",
         [](Situation& s) {
             s.facts.provides = {"no-retention"};
             s.tenant.data_policies = {"no-retention", "hipaa"};
         },
         Ineligible::data_policy_forbidden, ""},
        {"the alias demands it too", [](Situation& s) { s.contract.policy.data_policies = {"hipaa"}; },
         Ineligible::data_policy_forbidden, ""},
    });
}

EligibilityCase lossless_case(Lossless lossless, std::optional<Ineligible> expected) {
    return {"lossless " + std::to_string(static_cast<int>(lossless)),
            [=](Situation& s) {
                s.speculate();
                s.facts.lossless = lossless;
                s.contract.require_lossless = true;
            },
            expected, ""};
}

TEST(Eligibility, Evidence) {
    expect_all({
        lossless_case(Lossless::verified, std::nullopt),
        lossless_case(Lossless::declared, std::nullopt),
        lossless_case(Lossless::no, Ineligible::lossless_required),
        lossless_case(Lossless::unknown, Ineligible::lossless_required),
        {"a pool that does not speculate is lossless", [](Situation& s) { s.contract.require_lossless = true; },
         std::nullopt, ""},
        {"unmeasured", [](Situation& s) { s.contract.allow_unmeasured = false; }, Ineligible::unmeasured, ""},
        {"measured",
         [](Situation& s) {
             s.contract.allow_unmeasured = false;
             s.facts.measured = true;
         },
         std::nullopt, ""},
        {"a baseline is never unmeasured",
         [](Situation& s) {
             s.contract.allow_unmeasured = false;
             s.pool.baseline = true;
         },
         std::nullopt, ""},
        {"speculation without admission",
         [](Situation& s) {
             s.speculate();
             s.pool.admitted = false;
         },
         Ineligible::rollout_excluded, ""},
    });
}

TEST(Eligibility, StateIsTheLastThingAsked) {
    expect_all({
        {"drifted", [](Situation& s) { s.pool.state.drifted = true; }, Ineligible::engine_drifted, ""},
        {"unverified", [](Situation& s) { s.pool.state.unverified = true; }, Ineligible::unverified, ""},
        {"draining", [](Situation& s) { s.pool.state.draining = true; }, Ineligible::draining, ""},
        {"no replica", [](Situation& s) { s.pool.state.any_replica_usable = false; },
         Ineligible::all_replicas_unhealthy, ""},
        {"unhealthy in a forbidden region",
         [](Situation& s) {
             s.pool.state.any_replica_usable = false;
             s.tenant.regions = {"us-east"};
         },
         Ineligible::region_forbidden, ""},
        {"drifted and outside the rollout",
         [](Situation& s) {
             s.speculate();
             s.pool.admitted = false;
             s.pool.state.drifted = true;
         },
         Ineligible::rollout_excluded, ""},
    });
}

// Makes a pool fail every check, then mends one reason after the other: they must come in the order of the enumeration.
TEST(Eligibility, ReasonsComeInTheOrderOfTheEnumeration) {
    Situation s;
    s.facts = {};
    s.facts.family = "qwen";
    s.facts.streaming = false;
    s.facts.denied.add(Feature::tools);
    s.facts.capabilities.set(Feature::logprobs, Capability::wrong);
    s.facts.context_tokens = 10;
    s.facts.speculative = true;
    s.request.stream = true;
    s.request.features.add(Feature::tools);
    s.request.features.add(Feature::logprobs);
    s.request.max_tokens = 11;
    s.contract.require_lossless = true;
    s.contract.allow_unmeasured = false;
    s.tenant = {.regions = {"eu-west"}, .data_policies = {"no-retention"}};
    s.pool.state = {
        .disabled = true, .draining = true, .drifted = true, .unverified = true, .any_replica_usable = false};
    const std::vector<std::function<void()>> mends{
        [&] { s.facts.family = "llama"; },
        [&] { s.pool.state.disabled = false; },
        [&] { s.facts.endpoints.add(model::Endpoint::chat_completions); },
        [&] { s.facts.streaming = true; },
        [&] { s.facts.denied = {}; },
        [&] { s.facts.capabilities = {}; },
        [&] { s.facts.context_tokens = 11; },
        [&] { s.facts.region = "eu-west"; },
        [&] { s.facts.provides = {"no-retention"}; },
        [&] { s.facts.lossless = Lossless::verified; },
        [&] { s.facts.measured = true; },
        [&] { s.pool.admitted = true; },
        [&] { s.pool.state.drifted = false; },
        [&] { s.pool.state.unverified = false; },
        [&] { s.pool.state.draining = false; },
        [&] { s.pool.state.any_replica_usable = true; },
    };
    ASSERT_EQ(mends.size(), static_cast<std::size_t>(Ineligible::all_replicas_unhealthy) + 1);
    for (std::size_t step = 0; step < mends.size(); ++step) {
        ASSERT_EQ(s.verdict().reason, static_cast<Ineligible>(step)) << model::name_of(static_cast<Ineligible>(step));
        mends[step]();
    }
    EXPECT_TRUE(s.verdict().eligible());
}

TEST(Eligibility, EveryPoolGetsAVerdictWithItsIndex) {
    Situation fits;
    Situation drains;
    drains.pool.state.draining = true;
    const std::vector<AliasPool> pools{{.pool = 4, .facts = &drains.facts, .state = drains.pool.state},
                                       {.pool = 2, .facts = &fits.facts}};
    const Eligibility eligibility = judge(pools, fits.request, fits.contract, fits.tenant);
    ASSERT_EQ(eligibility.verdicts.size(), 2U);
    EXPECT_EQ(eligibility.verdicts[0].pool, 4U);
    EXPECT_EQ(eligibility.verdicts[0].reason, Ineligible::draining);
    EXPECT_EQ(eligibility.verdicts[1].pool, 2U);
    EXPECT_TRUE(eligibility.verdicts[1].eligible());
    EXPECT_TRUE(eligibility.any());
    EXPECT_FALSE(judge({}, fits.request, fits.contract, fits.tenant).any());
}

TEST(ContextFit, IsUndecidedBetweenTheBounds) {
    struct FitCase {
        std::string name;
        RequestFacts request;
        std::optional<std::uint64_t> context;
        ContextFit expected;
    };
    const auto request = [](std::optional<std::uint64_t> at_least, std::optional<std::uint64_t> at_most,
                            std::optional<std::uint64_t> output) {
        RequestFacts facts;
        facts.prompt_tokens_at_least = at_least;
        facts.prompt_tokens_at_most = at_most;
        facts.max_tokens = output;
        return facts;
    };
    const std::vector<FitCase> cases{
        {"the upper bound fits", request({}, 90, 10), 100, ContextFit::fits},
        {"the upper bound does not", request({}, 91, 10), 100, ContextFit::undecided},
        {"no upper bound (media)", request({}, {}, 10), 100, ContextFit::undecided},
        {"no context known", request({}, 90, 10), {}, ContextFit::undecided},
        {"an exact count that fits", request(90, 90, 10), 100, ContextFit::fits},
        {"an exact count that does not", request(91, 91, 10), 100, ContextFit::exceeds},
        {"no bounds and no output", request({}, {}, {}), 100, ContextFit::undecided},
        {"an upper bound that wraps", request({}, std::numeric_limits<std::uint64_t>::max(), 10), 100,
         ContextFit::undecided},
    };
    for (const FitCase& each : cases)
        EXPECT_EQ(context_fit(each.request, each.context), each.expected) << each.name;
}

}  // namespace
}  // namespace weir::routing
