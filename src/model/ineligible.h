// Ineligible: why one pool cannot serve one request. Listed in the order in which they are checked, so the
// last one that any pool reaches is the one nearest to success. What passes with time (from engine_drifted on) comes
// last, so such a reason means that nothing else keeps the pool from the request. Source: contract.md, "Ineligibility
// reasons".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::model {

enum class Ineligible : std::uint8_t {
    alias_mismatch,
    disabled,
    endpoint_unsupported,
    streaming_unsupported,
    parameter_unsupported,
    parameter_unreliable,
    context_exceeded,
    region_forbidden,
    data_policy_forbidden,
    lossless_required,
    unmeasured,
    rollout_excluded,
    engine_drifted,
    unverified,
    draining,
    all_replicas_unhealthy,
};

inline constexpr Ineligible last_ineligible = Ineligible::all_replicas_unhealthy;

[[nodiscard]] std::string_view name_of(Ineligible reason) noexcept;
// As records, metrics and explanations write it: "region_forbidden", "parameter_unsupported:min_p".
[[nodiscard]] std::string text_of(Ineligible reason, std::string_view parameter);

// What the texts of advice_on() are about. The tenant may be "": nobody in particular asks.
struct AdviceSubject {
    std::string_view alias;
    std::string_view pool;
    std::string_view tenant;
    std::string_view parameter;
};
// One sentence for operators: what would make the pool eligible.
[[nodiscard]] std::string advice_on(Ineligible reason, const AdviceSubject& subject);

}  // namespace weir::model
