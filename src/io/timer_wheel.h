// TimerWheel: deadlines for one thread, O(1) to arm and to disarm, in eight levels of 64 slots.
// Invariant: a timer never fires before its deadline, and at the first advance() at most one tick after it.
// Lazy: moving a deadline later, or disarming, leaves the timer in its slot; it is sorted out when the slot is due.
// Units: ticks of 2^20 ns (about 1 ms). Time is an argument. Not thread-safe.
#pragma once

#include "base/time.h"
#include "io/intrusive.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace weir::io {

// Something that has a deadline. Leaves the wheel when it dies.
class Timer : public ListLink<Timer> {
public:
    Timer() noexcept = default;
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    [[nodiscard]] bool armed() const noexcept { return due_tick_ != idle; }

protected:
    ~Timer() = default;

private:
    friend class TimerWheel;
    static constexpr std::uint64_t idle = std::numeric_limits<std::uint64_t>::max();
    // Called from advance(), once for each arm(). May arm, disarm and destroy timers, this one included.
    virtual void expired() noexcept = 0;

    std::uint64_t due_tick_ = idle;
    std::uint64_t queued_tick_ = 0;  // where it is in the wheel; at or before due_tick_
};

class TimerWheel {
public:
    static constexpr base::Nanoseconds tick{std::int64_t{1} << 20};

    explicit TimerWheel(base::Instant now) noexcept;

    // Sets the deadline, whether the timer was armed or not. `base::never` disarms.
    void arm(Timer& timer, base::Instant deadline) noexcept;
    // The timer will not fire. O(1), touches the timer only.
    void disarm(Timer& timer) noexcept { timer.due_tick_ = Timer::idle; }
    // Fires what is due.
    void advance(base::Instant now) noexcept;
    // When advance() has work at the earliest (perhaps only sorting); nullopt = nothing is armed.
    [[nodiscard]] std::optional<base::Instant> next_wake() noexcept;

private:
    static constexpr unsigned slot_bits = 6;
    static constexpr std::size_t slot_count = std::size_t{1} << slot_bits;
    static constexpr std::size_t level_count = 8;  // 48 bits of ticks: more than an Instant can hold

    struct Level {
        std::array<IntrusiveList<Timer>, slot_count> slots;
        std::uint64_t occupied = 0;  // one bit for each slot that may hold timers
    };
    struct Position {
        std::size_t level;
        std::size_t slot;
        std::uint64_t tick;  // when the slot is due
    };

    void insert(Timer& timer, std::uint64_t due_tick) noexcept;
    void settle(Timer& timer) noexcept;
    // The first slot that holds timers; nullptr = nothing is armed. Looked for only when the last one found is empty.
    [[nodiscard]] const Position* earliest() noexcept;
    [[nodiscard]] std::optional<Position> find_earliest() noexcept;

    std::array<Level, level_count> levels_;
    std::optional<Position> earliest_;
    std::uint64_t elapsed_;  // the tick up to which everything was fired
};

}  // namespace weir::io
