// Ineligible: why one pool cannot serve one request. Listed in the order in which they are checked, so the
// last one that any pool reaches is the one nearest to success. What passes with time (from engine_drifted on) comes
// last, so such a reason means that nothing else keeps the pool from the request. Source: contract.md, "Ineligibility
// reasons".
#pragma once

#include <cstdint>
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

[[nodiscard]] std::string_view name_of(Ineligible reason) noexcept;

}  // namespace weir::model
