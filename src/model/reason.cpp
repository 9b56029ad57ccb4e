#include "model/reason.h"

#include <array>
#include <cstddef>

namespace weir::model {

namespace {

constexpr std::string_view invalid = "invalid_request_error";
constexpr std::string_view server = "server_error";
constexpr std::string_view limit = "rate_limit_error";

// In the order of the enumeration.
constexpr std::array<ReasonInfo, static_cast<std::size_t>(last_reason) + 1> table{{
    {"invalid_http", 400, invalid},
    {"invalid_json", 400, invalid},
    {"invalid_request", 400, invalid},
    {"context_length_exceeded", 400, invalid},
    {"unsupported_parameter", 400, invalid},
    {"invalid_api_key", 401, invalid},
    {"region_not_allowed", 403, "permission_error"},
    {"data_policy_not_allowed", 403, "permission_error"},
    {"model_not_found", 404, invalid},
    {"endpoint_not_supported", 404, invalid},
    {"method_not_allowed", 405, invalid},
    {"unsupported_media_type", 415, invalid},
    {"header_too_large", 431, invalid},
    {"request_timeout", 408, invalid},
    {"request_too_large", 413, invalid},
    {"rate_limit_requests", 429, limit},
    {"rate_limit_input_tokens", 429, limit},
    {"rate_limit_output_tokens", 429, limit},
    {"rate_limit_concurrency", 429, limit},
    {"upstream_rejected", 400, invalid},
    {"upstream_saturated", 503, server},
    {"internal_error", 500, server},
    {"upstream_error", 502, server},
    {"upstream_protocol", 502, server},
    {"no_eligible_pool", 503, server},
    {"pools_unhealthy", 503, server},
    {"queue_full", 503, server},
    {"queue_timeout", 503, server},
    {"deadline_unreachable", 503, server},
    {"limiter_unavailable", 503, server},
    {"overloaded", 503, server},
    {"draining", 503, server},
    {"upstream_timeout_first_token", 504, server},
    {"upstream_timeout_idle", 504, server},
    {"upstream_timeout_total", 504, server},
}};

}  // namespace

const ReasonInfo& info_of(Reason reason) noexcept { return table[static_cast<std::size_t>(reason)]; }

bool retry_cannot_help(Reason, int status) noexcept {
    if (status == 408 || status == 409 || status == 425 || status == 429) return false;
    return (status >= 400 && status < 500) || status == 502 || status == 504;
}

}  // namespace weir::model
