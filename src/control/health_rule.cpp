#include "control/health_rule.h"

namespace weir::control {

routing::Health HealthRule::after(engine::HealthAnswer answer) noexcept {
    switch (answer) {
        case engine::HealthAnswer::healthy:
            failures_ = 0;
            state_ = routing::Health::healthy;
            break;
        case engine::HealthAnswer::loading: state_ = routing::Health::loading; break;
        case engine::HealthAnswer::unhealthy: state_ = routing::Health::unhealthy; break;
        case engine::HealthAnswer::failed:
            if (failures_ < failures_until_unhealthy) ++failures_;
            if (failures_ == failures_until_unhealthy) state_ = routing::Health::unhealthy;
            break;
    }
    return state_;
}

}  // namespace weir::control
