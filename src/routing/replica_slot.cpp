#include "routing/replica_slot.h"

#include <cassert>

namespace weir::routing {

std::string_view name_of(Health health) noexcept {
    switch (health) {
        case Health::unknown: return "unknown";
        case Health::healthy: return "healthy";
        case Health::unhealthy: return "unhealthy";
        case Health::loading: return "loading";
    }
    return "unknown";
}

InFlight& InFlight::operator=(InFlight&& other) noexcept {
    if (this == &other) return *this;
    release();
    slot_ = std::exchange(other.slot_, nullptr);
    before_ = other.before_;
    return *this;
}

void InFlight::release() noexcept {
    if (slot_ == nullptr) return;
    const std::uint32_t before = std::exchange(slot_, nullptr)->in_flight_.fetch_sub(1, std::memory_order_release);
    assert(before > 0);
    static_cast<void>(before);
}

ReplicaSlot::~ReplicaSlot() { assert(in_flight() == 0 && "a lease outlived its slot"); }

InFlight ReplicaSlot::acquire() noexcept { return {*this, in_flight_.fetch_add(1, std::memory_order_acquire)}; }

std::optional<InFlight> ReplicaSlot::try_acquire(std::uint32_t limit) noexcept {
    if (limit == 0) return acquire();
    std::uint32_t now = in_flight_.load(std::memory_order_relaxed);
    while (now < limit)
        if (in_flight_.compare_exchange_weak(now, now + 1, std::memory_order_acquire, std::memory_order_relaxed))
            return InFlight{*this, now};
    return std::nullopt;
}

bool ReplicaSlot::usable() const noexcept {
    switch (health()) {
        case Health::unknown:
        case Health::healthy: return true;
        case Health::unhealthy:
        case Health::loading: return false;
    }
    return false;
}

std::optional<base::Instant> ReplicaSlot::last_probe() const noexcept {
    const std::int64_t at = last_probe_ns_.load(std::memory_order_relaxed);
    if (at == not_probed) return std::nullopt;
    return base::Instant{base::Nanoseconds{at}};
}

void ReplicaSlot::publish(Health health, base::Instant probed_at) noexcept {
    last_probe_ns_.store(probed_at.time_since_epoch().count(), std::memory_order_relaxed);
    health_.store(health, std::memory_order_relaxed);
}

}  // namespace weir::routing
