// ReplicaSlot: what the whole process knows of one replica at this moment; read and written by any thread.
// Invariant: in_flight counts the live InFlight leases. A replica is usable until a probe says otherwise.
// Padded to its own cache lines, so that workers counting on neighbouring replicas do not disturb each other.
#pragma once

#include "base/time.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace weir::routing {

enum class Health : std::uint8_t { unknown, healthy, unhealthy, loading };
[[nodiscard]] std::string_view name_of(Health health) noexcept;

class ReplicaSlot;

// One request that is at the replica. Move-only; given back once, by release() or at destruction, on any thread.
// The slot outlives it: a request keeps the snapshot that names the slot until its response has ended.
class InFlight {
public:
    InFlight() noexcept = default;  // holds nothing
    InFlight(InFlight&& other) noexcept : slot_{std::exchange(other.slot_, nullptr)}, before_{other.before_} {}
    InFlight& operator=(InFlight&& other) noexcept;
    ~InFlight() { release(); }
    void release() noexcept;
    [[nodiscard]] bool held() const noexcept { return slot_ != nullptr; }
    // How many were in flight at the replica just before this one.
    [[nodiscard]] std::uint32_t before() const noexcept { return before_; }

private:
    friend class ReplicaSlot;
    InFlight(ReplicaSlot& slot, std::uint32_t before) noexcept : slot_{&slot}, before_{before} {}
    ReplicaSlot* slot_ = nullptr;
    std::uint32_t before_ = 0;
};

class alignas(64) ReplicaSlot {
public:
    ReplicaSlot() = default;
    ReplicaSlot(const ReplicaSlot&) = delete;
    ReplicaSlot& operator=(const ReplicaSlot&) = delete;
    ~ReplicaSlot();  // asserts that nothing is in flight

    [[nodiscard]] InFlight acquire() noexcept;
    // nullopt when `limit` requests are already there; 0 = no limit. Threads together never exceed it.
    [[nodiscard]] std::optional<InFlight> try_acquire(std::uint32_t limit) noexcept;
    [[nodiscard]] std::uint32_t in_flight() const noexcept { return in_flight_.load(std::memory_order_relaxed); }

    [[nodiscard]] Health health() const noexcept { return health_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool usable() const noexcept;
    // When the last probe ended; nullopt before the first.
    [[nodiscard]] std::optional<base::Instant> last_probe() const noexcept;
    void publish(Health health, base::Instant probed_at) noexcept;

private:
    friend class InFlight;
    static constexpr std::int64_t not_probed = std::numeric_limits<std::int64_t>::min();
    std::atomic<std::uint32_t> in_flight_{0};
    std::atomic<Health> health_{Health::unknown};
    std::atomic<std::int64_t> last_probe_ns_{not_probed};
};

}  // namespace weir::routing
