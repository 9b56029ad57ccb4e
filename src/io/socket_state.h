// Socket::State: a socket as its reactor sees it: what is ready, who waits, what the turn's read budget has left.
// Invariant: a readiness flag is cleared only when the kernel is known to tell again. Not for other modules.
// Threads: the reactor's.
#pragma once

#include "io/descriptor.h"
#include "io/reactor_impl.h"
#include "io/socket.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace weir::io {

// One direction: whether the kernel is known to be ready, and who waits for it. The deadline of the wait is kept in
// one timer for the whole life of the socket, so that a wait for each event does not insert into the wheel.
struct Readiness final : private Timer {
    bool ready = false;
    WaitNode* waiter = nullptr;

    void wake(Outcome outcome) noexcept {
        if (waiter != nullptr) waiter->complete(outcome);
    }
    void begin(WaitNode& node, TimerWheel& wheel, base::Instant deadline) noexcept {
        assert(waiter == nullptr && "one waiter for each direction");
        waiter = &node;
        wheel.arm(*this, deadline);
    }
    void end(TimerWheel& wheel) noexcept {
        waiter = nullptr;
        wheel.disarm(*this);
    }

private:
    void expired() noexcept override { wake(Outcome::timed_out); }
};

struct Socket::State final : private EventSource {
    State(Reactor::Impl& owner, Descriptor adopted) noexcept : reactor{owner}, descriptor{std::move(adopted)} {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State();

    [[nodiscard]] static base::Result<Socket> open(Reactor& reactor, Descriptor descriptor, bool writable);
    [[nodiscard]] Readiness& side(ReadinessAwaiter::Direction direction) noexcept {
        return direction == ReadinessAwaiter::Direction::read ? read : write;  // `either` keeps its deadline in write
    }
    [[nodiscard]] bool read_budget_left() const noexcept {
        return budget_turn != reactor.turn() || bytes_this_turn < Socket::read_budget_bytes;
    }
    void spend(std::size_t bytes) noexcept;
    void on_events(std::uint32_t events) noexcept override;

    Reactor::Impl& reactor;
    Descriptor descriptor;
    WatchTable::Token token = 0;
    bool watched = false;
    bool peer_finished = false;
    Readiness read;
    Readiness write;
    std::uint64_t budget_turn = 0;
    std::size_t bytes_this_turn = 0;
    std::move_only_function<void()> on_peer_finished;
};

}  // namespace weir::io
