#include "model/record.h"

namespace weir::model {

std::string_view name_of(Outcome outcome) noexcept {
    switch (outcome) {
        case Outcome::ok: return "ok";
        case Outcome::refused: return "refused";
        case Outcome::upstream_failed: return "upstream_failed";
        case Outcome::truncated: return "truncated";
        case Outcome::client_closed: return "client_closed";
        case Outcome::interrupted: return "interrupted";
    }
    return "other";
}

std::string_view name_of(UsageSource source) noexcept {
    switch (source) {
        case UsageSource::none: return "none";
        case UsageSource::engine: return "engine";
        case UsageSource::estimate: return "estimate";
    }
    return "none";
}

std::string_view name_of(AttemptOutcome outcome) noexcept {
    switch (outcome) {
        case AttemptOutcome::ok: return "ok";
        case AttemptOutcome::rejected: return "rejected";
        case AttemptOutcome::saturated: return "saturated";
        case AttemptOutcome::connect_failed: return "connect_failed";
        case AttemptOutcome::reset: return "reset";
        case AttemptOutcome::failed: return "failed";
        case AttemptOutcome::protocol: return "protocol";
        case AttemptOutcome::timeout: return "timeout";
        case AttemptOutcome::truncated: return "truncated";
        case AttemptOutcome::client_closed: return "client_closed";
        case AttemptOutcome::stale_connection: return "stale_connection";
    }
    return "other";
}

}  // namespace weir::model
