// HealthRule: from answers to a state, with patience: several failures in a row make a replica unhealthy, one success
// makes it usable again; what an engine says of itself counts at once. Pure value; not thread-safe.
#pragma once

#include "engine/probe.h"
#include "routing/replica_slot.h"

#include <cstdint>

namespace weir::control {

inline constexpr std::uint32_t failures_until_unhealthy = 3;

class HealthRule {
public:
    // The state after this answer.
    [[nodiscard]] routing::Health after(engine::HealthAnswer answer) noexcept;
    [[nodiscard]] routing::Health state() const noexcept { return state_; }
    [[nodiscard]] std::uint32_t failures() const noexcept { return failures_; }

private:
    routing::Health state_ = routing::Health::unknown;
    std::uint32_t failures_ = 0;
};

}  // namespace weir::control
