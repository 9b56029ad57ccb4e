// Event: a condition that coroutines of one reactor wait for; stays set until reset().
// Invariant: set() only queues the waiters. Lifetime: when it dies, waiters end with ErrorCode::closed.
// Threads: the reactor's; other threads set it through Reactor::post.
#pragma once

#include "base/result.h"
#include "io/intrusive.h"
#include "io/reactor.h"

#include <coroutine>

namespace weir::io {

class EventAwaiter;

class Event {
public:
    explicit Event(Reactor& reactor) noexcept : reactor_{reactor} {}
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event();

    void set() noexcept;
    void reset() noexcept { set_ = false; }
    [[nodiscard]] bool is_set() const noexcept { return set_; }
    // co_await: Status. ok = it was set (and may have been reset since). Errors: timeout, cancelled, closed.
    [[nodiscard]] EventAwaiter wait(Wait wait) noexcept;

private:
    friend class EventAwaiter;
    Reactor& reactor_;
    IntrusiveList<EventAwaiter, Event> waiters_;
    bool set_ = false;
};

class EventAwaiter final : private WaitNode, private Timer, private ListLink<Event> {
public:
    EventAwaiter(Event& event, Wait wait) noexcept;
    [[nodiscard]] bool await_ready() noexcept;
    void await_suspend(std::coroutine_handle<> continuation) noexcept;
    [[nodiscard]] base::Status await_resume() const;

private:
    friend class Event;
    friend class IntrusiveList<EventAwaiter, Event>;
    void expired() noexcept override;

    Event& event_;
    Wait wait_;
};

}  // namespace weir::io
