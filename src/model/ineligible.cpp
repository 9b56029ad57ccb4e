#include "model/ineligible.h"

namespace weir::model {

std::string_view name_of(Ineligible reason) noexcept {
    switch (reason) {
        case Ineligible::alias_mismatch: return "alias_mismatch";
        case Ineligible::disabled: return "disabled";
        case Ineligible::endpoint_unsupported: return "endpoint_unsupported";
        case Ineligible::streaming_unsupported: return "streaming_unsupported";
        case Ineligible::parameter_unsupported: return "parameter_unsupported";
        case Ineligible::parameter_unreliable: return "parameter_unreliable";
        case Ineligible::context_exceeded: return "context_exceeded";
        case Ineligible::region_forbidden: return "region_forbidden";
        case Ineligible::data_policy_forbidden: return "data_policy_forbidden";
        case Ineligible::lossless_required: return "lossless_required";
        case Ineligible::engine_drifted: return "engine_drifted";
        case Ineligible::unverified: return "unverified";
        case Ineligible::unmeasured: return "unmeasured";
        case Ineligible::rollout_excluded: return "rollout_excluded";
        case Ineligible::draining: return "draining";
        case Ineligible::all_replicas_unhealthy: return "all_replicas_unhealthy";
    }
    return "other";
}

}  // namespace weir::model
