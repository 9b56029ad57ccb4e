// Reason: why a request was refused or failed; one code shared by the reply, the metric and the record.
// The table below is the only place that maps a reason to its status and its OpenAI error type.
// Source: contract.md section 3, "Refusals".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::model {

enum class Reason : std::uint8_t {
    invalid_http,
    invalid_json,
    invalid_request,
    context_length_exceeded,
    unsupported_parameter,
    invalid_api_key,
    region_not_allowed,
    data_policy_not_allowed,
    model_not_found,
    endpoint_not_supported,
    method_not_allowed,
    unsupported_media_type,
    header_too_large,
    request_timeout,
    request_too_large,
    rate_limit_requests,
    rate_limit_input_tokens,
    rate_limit_output_tokens,
    rate_limit_concurrency,
    upstream_rejected,
    upstream_saturated,
    internal_error,
    upstream_error,
    upstream_protocol,
    no_eligible_pool,
    pools_unhealthy,
    queue_full,
    queue_timeout,
    deadline_unreachable,
    limiter_unavailable,
    overloaded,
    draining,
    upstream_timeout_first_token,
    upstream_timeout_idle,
    upstream_timeout_total,
};

inline constexpr Reason last_reason = Reason::upstream_timeout_total;

struct ReasonInfo {
    std::string_view name;        // the machine-read code
    int status;  // HTTP status; for upstream_rejected and upstream_saturated the engine's own status wins
    std::string_view error_type;  // OpenAI error object's `type`
};

[[nodiscard]] const ReasonInfo& info_of(Reason reason) noexcept;
[[nodiscard]] inline std::string_view name_of(Reason reason) noexcept { return info_of(reason).name; }

// The value of x-should-retry, when it must be sent: false where a retry cannot help.
// `status` is the status as sent (an engine's own 4xx keeps its number).
[[nodiscard]] bool retry_cannot_help(Reason reason, int status) noexcept;

}  // namespace weir::model
