// Reactor: one thread's event loop: edge-triggered epoll, a coarse timer wheel, a mailbox for other threads.
// Invariant: coroutines run only on the reactor's own thread; post() is the only member other threads may call.
// Outlives its sockets, acceptors, events and waits: fire their Cancel, await the TaskGroup, then stop().
// One clock read a turn: now() is the time at which the present turn began.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "io/cancel.h"
#include "io/wait.h"

#include <functional>
#include <memory>

namespace weir::io {

class Reactor {
public:
    [[nodiscard]] static base::Result<std::unique_ptr<Reactor>> create();
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;
    ~Reactor();

    // Runs turns until stop() is called on this thread (or was, before run()). May be run again.
    void run();
    void stop() noexcept;

    // Runs `work` on the reactor's thread, in order of posting. Any thread; never blocks for long. It must not throw.
    // What is posted behind stop() runs at the next run(), or is dropped with the reactor.
    void post(std::move_only_function<void()> work);

    // While run() is active, the beginning of the turn; outside it, the clock.
    [[nodiscard]] base::Instant now() const noexcept;

    // co_await sleep(wait): ok when the deadline came, else ErrorCode::cancelled.
    [[nodiscard]] SleepAwaiter sleep(Wait wait) noexcept;

    // For owners of a Timer: arm and disarm it here, on this thread.
    [[nodiscard]] TimerWheel& timers() noexcept;

    // How long the last measured turn kept its callbacks waiting (work between two epoll_wait calls).
    // One turn in sixteen is measured, because a second clock read costs.
    [[nodiscard]] base::Nanoseconds last_turn() const noexcept;

    class Impl;
    [[nodiscard]] Impl& impl() noexcept { return *impl_; }

private:
    explicit Reactor(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace weir::io
