#include "base/result.h"

namespace weir::base {

std::string_view to_string(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::invalid_argument: return "invalid_argument";
        case ErrorCode::not_found: return "not_found";
        case ErrorCode::unauthenticated: return "unauthenticated";
        case ErrorCode::rate_limited: return "rate_limited";
        case ErrorCode::overloaded: return "overloaded";
        case ErrorCode::timeout: return "timeout";
        case ErrorCode::cancelled: return "cancelled";
        case ErrorCode::closed: return "closed";
        case ErrorCode::protocol: return "protocol";
        case ErrorCode::too_large: return "too_large";
        case ErrorCode::unavailable: return "unavailable";
        case ErrorCode::upstream_failed: return "upstream_failed";
        case ErrorCode::internal: return "internal";
    }
    return "internal";
}

}  // namespace weir::base
