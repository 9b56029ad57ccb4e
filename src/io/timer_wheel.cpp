#include "io/timer_wheel.h"

#include <algorithm>
#include <bit>

namespace weir::io {
namespace {

std::uint64_t tick_at_or_before(base::Instant time) noexcept {
    return static_cast<std::uint64_t>(time.time_since_epoch().count()) / TimerWheel::tick.count();
}

// Rounds up: a timer that fires with this tick is never early.
std::uint64_t tick_at_or_after(base::Instant time) noexcept {
    const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(time.time_since_epoch().count(), 0));
    constexpr auto width = static_cast<std::uint64_t>(TimerWheel::tick.count());
    return (nanoseconds + width - 1) / width;
}

}  // namespace

TimerWheel::TimerWheel(base::Instant now) noexcept : elapsed_{tick_at_or_before(now)} {}

void TimerWheel::arm(Timer& timer, base::Instant deadline) noexcept {
    if (deadline == base::never) return disarm(timer);
    timer.due_tick_ = std::max(tick_at_or_after(deadline), elapsed_ + 1);
    const bool found_in_time = timer.linked() && timer.queued_tick_ <= timer.due_tick_;
    if (found_in_time) return;
    timer.unlink();
    insert(timer, timer.due_tick_);
}

void TimerWheel::advance(base::Instant now) noexcept {
    const std::uint64_t target = tick_at_or_before(now);
    for (const auto* next = earliest(); next != nullptr && next->tick <= target; next = earliest()) {
        elapsed_ = next->tick;
        Level& level = levels_[next->level];
        level.occupied &= ~(std::uint64_t{1} << next->slot);
        IntrusiveList<Timer> due;
        due.take(level.slots[next->slot]);
        while (Timer* const timer = due.pop_front())
            settle(*timer);
    }
    elapsed_ = std::max(elapsed_, target);
}

std::optional<base::Instant> TimerWheel::next_wake() noexcept {
    const auto* const next = earliest();
    if (next == nullptr) return std::nullopt;
    return base::Instant{tick * static_cast<std::int64_t>(next->tick)};
}

// The level is that of the highest group of six bits in which `due_tick` differs from now. So all timers of a level
// lie in slots behind the present one, and those of a lower level are due before those of a higher one.
void TimerWheel::insert(Timer& timer, std::uint64_t due_tick) noexcept {
    const std::uint64_t difference = due_tick ^ elapsed_;
    const auto level = static_cast<std::size_t>(std::bit_width(difference | 1) - 1) / slot_bits;
    const std::size_t slot = (due_tick >> (level * slot_bits)) % slot_count;
    timer.queued_tick_ = due_tick;
    levels_[level].slots[slot].push_back(timer);
    levels_[level].occupied |= std::uint64_t{1} << slot;
    const std::uint64_t slot_tick = due_tick >> (level * slot_bits) << (level * slot_bits);
    if (earliest_ && slot_tick < earliest_->tick) earliest_ = {.level = level, .slot = slot, .tick = slot_tick};
}

// A timer whose slot is due: fires, or moves to where its present deadline belongs, or rests.
void TimerWheel::settle(Timer& timer) noexcept {
    if (!timer.armed()) return;
    if (timer.due_tick_ > elapsed_) return insert(timer, timer.due_tick_);
    timer.due_tick_ = Timer::idle;
    timer.expired();
}

const TimerWheel::Position* TimerWheel::earliest() noexcept {
    if (!earliest_ || levels_[earliest_->level].slots[earliest_->slot].empty()) earliest_ = find_earliest();
    return earliest_ ? &*earliest_ : nullptr;
}

// Also forgets slots that timers have left, so that nobody wakes up for them.
std::optional<TimerWheel::Position> TimerWheel::find_earliest() noexcept {
    for (std::size_t index = 0; index < level_count; ++index) {
        Level& level = levels_[index];
        while (level.occupied != 0) {
            const auto slot = static_cast<std::size_t>(std::countr_zero(level.occupied));
            if (!level.slots[slot].empty()) {
                const std::size_t shift = index * slot_bits;
                const std::uint64_t block = elapsed_ >> (shift + slot_bits) << (shift + slot_bits);
                return Position{.level = index, .slot = slot, .tick = block | (std::uint64_t{slot} << shift)};
            }
            level.occupied &= level.occupied - 1;
        }
    }
    return std::nullopt;
}

}  // namespace weir::io
