// Eligibility: stage 1 of choosing. Which pools of an alias can serve one request, and why the others cannot.
// Pure. A pool gets the first reason that applies, in the order of model::Ineligible: facts of the contract, then
// of the request, then policy, then state; so the reason is the one furthest along, and nearest to success.
// An empty set is a refusal; nothing is ever widened to avoid it. Source: evidence.md section 2.
#pragma once

#include "base/inline_vector.h"
#include "model/ineligible.h"
#include "model/reason.h"
#include "routing/facts.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weir::routing {

// Prompt and requested output against a context size. `undecided` asks for a count; it never excludes.
enum class ContextFit : std::uint8_t { fits, undecided, exceeds };

struct Verdict {
    std::uint32_t pool = 0;                   // AliasPool::pool
    std::optional<model::Ineligible> reason;  // nullopt = eligible
    std::string_view parameter;               // of parameter_unsupported and parameter_unreliable; static storage
    ContextFit context = ContextFit::fits;  // undecided: a context size is known, and whether the request fits is not
    [[nodiscard]] bool eligible() const noexcept { return !reason.has_value(); }
};

struct Eligibility {
    base::InlineVector<Verdict, 2> verdicts;  // one for each AliasPool, in their order
    [[nodiscard]] bool any() const noexcept;
};

[[nodiscard]] Eligibility judge(std::span<const AliasPool> pools, const RequestFacts& request,
                                const ContractFacts& contract, const PolicyFacts& tenant);
[[nodiscard]] Verdict judge_pool(const AliasPool& pool, const RequestFacts& request, const ContractFacts& contract,
                                 const PolicyFacts& tenant) noexcept;

// `overhead_tokens`: what the pool's engine adds at most; nullopt = not known, so nothing surely fits.
[[nodiscard]] ContextFit context_fit(const RequestFacts& request, std::optional<std::uint64_t> context_tokens,
                                     std::optional<std::uint64_t> overhead_tokens = 0) noexcept;

// The most useful refusal when no pool is eligible (precondition: !eligibility.any()):
// 1. some pool could serve the request in a better hour: pools_unhealthy when one has no usable replica, else
//    no_eligible_pool (draining, drifted, unverified): a retry can help, so it is never a 4xx;
// 2. what the client can change, nearest to success first: context_length_exceeded, unsupported_parameter
//    (`parameter` is named; "stream" for streaming), endpoint_not_supported;
// 3. policy: data_policy_not_allowed, region_not_allowed;
// 4. no_eligible_pool: only an operator can help (disabled, unmeasured, rollout, lossless, family).
struct Refusal {
    model::Reason reason = model::Reason::no_eligible_pool;
    std::string_view parameter;  // of unsupported_parameter; static storage
};
[[nodiscard]] Refusal refusal_of(const Eligibility& eligibility) noexcept;

}  // namespace weir::routing
