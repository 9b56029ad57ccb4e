#include "routing/eligibility.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace weir::routing {

namespace {

using model::Ineligible;

struct Finding {
    Ineligible reason{};
    std::string_view parameter;
};
using Check = std::optional<Finding>;

Check when(bool applies, Ineligible reason) noexcept {
    return applies ? Check{Finding{.reason = reason, .parameter = {}}} : std::nullopt;
}

Check when_any(model::FeatureSet features, Ineligible reason) noexcept {
    if (features.empty()) return std::nullopt;
    for (const model::Feature feature : model::all_features)
        if (features.contains(feature)) return Finding{.reason = reason, .parameter = model::name_of(feature)};
    return std::nullopt;
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

bool contains(const std::vector<std::string>& names, const std::string& name) noexcept {
    return std::ranges::find(names, name) != names.end();
}

bool region_allowed(const PolicyFacts& policy, const PoolFacts& pool) noexcept {
    return policy.regions.empty() || contains(policy.regions, pool.region);
}

bool data_policies_met(const PolicyFacts& policy, const PoolFacts& pool) noexcept {
    return std::ranges::all_of(policy.data_policies,
                               [&](const std::string& demanded) { return contains(pool.provides, demanded); });
}

std::optional<std::uint64_t> smaller(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) noexcept {
    if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
    return std::min(*a, *b);
}

Check check_shape(const AliasPool& pool, const RequestFacts& request, const ContractFacts& contract) noexcept {
    const PoolFacts& facts = *pool.facts;
    if (facts.family != contract.family) return Finding{Ineligible::alias_mismatch, {}};
    if (pool.state.disabled) return Finding{Ineligible::disabled, {}};
    if (!facts.endpoints.contains(request.endpoint)) return Finding{Ineligible::endpoint_unsupported, {}};
    return when(request.stream && !facts.streaming, Ineligible::streaming_unsupported);
}

Check check_parameters(const AliasPool& pool, const RequestFacts& request, const ContractFacts& contract) noexcept {
    const PoolFacts& facts = *pool.facts;
    if (auto found = when_any(request.features & facts.denied, Ineligible::parameter_unsupported)) return found;
    if (auto found = when_any(request.features & facts.capabilities.rejected(), Ineligible::parameter_unsupported))
        return found;
    if (auto found = when_any(request.features & facts.capabilities.unreliable(), Ineligible::parameter_unreliable))
        return found;
    return when_any(request.features & facts.capabilities.unknown() & contract.promised,
                    Ineligible::parameter_unreliable);
}

// Where no size is known there is nothing to exceed, and nothing to ask.
ContextFit fit_of(const AliasPool& pool, const RequestFacts& request, const ContractFacts& contract) noexcept {
    const auto context_tokens = smaller(pool.facts->context_tokens, contract.context_tokens);
    if (!context_tokens) return ContextFit::fits;
    return context_fit(request, context_tokens, pool.state.prompt_overhead_tokens);
}

Check check_context_and_policy(const AliasPool& pool, const RequestFacts& request, const ContractFacts& contract,
                               const PolicyFacts& tenant) noexcept {
    const PoolFacts& facts = *pool.facts;
    if (fit_of(pool, request, contract) == ContextFit::exceeds) return Finding{Ineligible::context_exceeded, {}};
    if (!region_allowed(contract.policy, facts) || !region_allowed(tenant, facts))
        return Finding{Ineligible::region_forbidden, {}};
    return when(!data_policies_met(contract.policy, facts) || !data_policies_met(tenant, facts),
                Ineligible::data_policy_forbidden);
}

bool is_lossless(const PoolFacts& facts) noexcept {
    return !facts.speculative || facts.lossless == Lossless::verified || facts.lossless == Lossless::declared;
}

Check check_evidence_and_state(const AliasPool& pool, const ContractFacts& contract) noexcept {
    const PoolFacts& facts = *pool.facts;
    if (contract.require_lossless && !is_lossless(facts)) return Finding{Ineligible::lossless_required, {}};
    if (!contract.allow_unmeasured && !pool.baseline && !facts.measured) return Finding{Ineligible::unmeasured, {}};
    if (facts.speculative && !pool.admitted) return Finding{Ineligible::rollout_excluded, {}};
    if (pool.state.drifted) return Finding{Ineligible::engine_drifted, {}};
    if (pool.state.unverified) return Finding{Ineligible::unverified, {}};
    if (pool.state.draining) return Finding{Ineligible::draining, {}};
    return when(!pool.state.any_replica_usable, Ineligible::all_replicas_unhealthy);
}

Check first_reason(const AliasPool& pool, const RequestFacts& request, const ContractFacts& contract,
                   const PolicyFacts& tenant) noexcept {
    if (auto found = check_shape(pool, request, contract)) return found;
    if (auto found = check_parameters(pool, request, contract)) return found;
    if (auto found = check_context_and_policy(pool, request, contract, tenant)) return found;
    return check_evidence_and_state(pool, contract);
}

// The most useful first; each with the refusal that it becomes. An ineligibility that is not here is the operator's.
struct Usefulness {
    Ineligible found{};
    model::Reason refusal{};
    std::string_view parameter;  // "" = the verdict's own
};
constexpr std::array usefulness{
    Usefulness{Ineligible::all_replicas_unhealthy, model::Reason::pools_unhealthy, {}},
    Usefulness{Ineligible::draining, model::Reason::no_eligible_pool, {}},
    Usefulness{Ineligible::unverified, model::Reason::no_eligible_pool, {}},
    Usefulness{Ineligible::engine_drifted, model::Reason::no_eligible_pool, {}},
    Usefulness{Ineligible::context_exceeded, model::Reason::context_length_exceeded, {}},
    Usefulness{Ineligible::parameter_unreliable, model::Reason::unsupported_parameter, {}},
    Usefulness{Ineligible::parameter_unsupported, model::Reason::unsupported_parameter, {}},
    Usefulness{Ineligible::streaming_unsupported, model::Reason::unsupported_parameter, "stream"},
    Usefulness{Ineligible::endpoint_unsupported, model::Reason::endpoint_not_supported, {}},
    Usefulness{Ineligible::data_policy_forbidden, model::Reason::data_policy_not_allowed, {}},
    Usefulness{Ineligible::region_forbidden, model::Reason::region_not_allowed, {}},
};

}  // namespace

bool Eligibility::any() const noexcept { return std::ranges::any_of(verdicts, &Verdict::eligible); }

Verdict judge_pool(const AliasPool& pool, const RequestFacts& request, const ContractFacts& contract,
                   const PolicyFacts& tenant) noexcept {
    const Check found = first_reason(pool, request, contract, tenant);
    if (found.has_value()) return {.pool = pool.pool, .reason = found->reason, .parameter = found->parameter};
    return {.pool = pool.pool, .reason = std::nullopt, .parameter = {}, .context = fit_of(pool, request, contract)};
}

Eligibility judge(std::span<const AliasPool> pools, const RequestFacts& request, const ContractFacts& contract,
                  const PolicyFacts& tenant) {
    Eligibility eligibility;
    for (const AliasPool& pool : pools)
        eligibility.verdicts.push_back(judge_pool(pool, request, contract, tenant));
    return eligibility;
}

ContextFit context_fit(const RequestFacts& request, std::optional<std::uint64_t> context_tokens,
                       std::optional<std::uint64_t> overhead_tokens) noexcept {
    if (!context_tokens.has_value()) return ContextFit::undecided;
    const std::uint64_t output = request.max_tokens.value_or(0);
    if (saturating_sum(request.prompt_tokens_at_least.value_or(0), output) > *context_tokens)
        return ContextFit::exceeds;
    if (!request.prompt_tokens_at_most.has_value() || !overhead_tokens.has_value()) return ContextFit::undecided;
    const std::uint64_t prompt = saturating_sum(*request.prompt_tokens_at_most, *overhead_tokens);
    return saturating_sum(prompt, output) <= *context_tokens ? ContextFit::fits : ContextFit::undecided;
}

Refusal refusal_of(const Eligibility& eligibility) noexcept {
    for (const Usefulness& row : usefulness) {
        const auto found = std::ranges::find(eligibility.verdicts, std::optional{row.found}, &Verdict::reason);
        if (found == eligibility.verdicts.end()) continue;
        return {.reason = row.refusal, .parameter = row.parameter.empty() ? found->parameter : row.parameter};
    }
    return {};
}

}  // namespace weir::routing
