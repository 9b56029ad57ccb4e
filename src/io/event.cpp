#include "io/event.h"

#include "io/reactor_impl.h"

namespace weir::io {

Event::~Event() {
    while (EventAwaiter* const waiter = waiters_.pop_front())
        waiter->complete(Outcome::closed);
}

void Event::set() noexcept {
    set_ = true;
    while (EventAwaiter* const waiter = waiters_.pop_front())
        waiter->complete(Outcome::ok);
}

EventAwaiter Event::wait(Wait wait) noexcept { return EventAwaiter{*this, wait}; }

EventAwaiter::EventAwaiter(Event& event, Wait wait) noexcept
    : WaitNode{&event.reactor_.impl().ready()}, event_{event}, wait_{wait} {}

bool EventAwaiter::await_ready() noexcept {
    if (wait_.cancel != nullptr && wait_.cancel->fired())
        conclude(Outcome::cancelled);
    else if (event_.set_)
        conclude(Outcome::ok);
    else if (wait_.deadline <= event_.reactor_.now())
        conclude(Outcome::timed_out);
    return outcome() != Outcome::pending;
}

void EventAwaiter::await_suspend(std::coroutine_handle<> continuation) noexcept {
    suspend(continuation, wait_.cancel);
    event_.waiters_.push_back(*this);
    event_.reactor_.impl().wheel().arm(*this, wait_.deadline);
}

base::Status EventAwaiter::await_resume() const { return to_status(outcome(), "wait"); }

void EventAwaiter::expired() noexcept { complete(Outcome::timed_out); }

}  // namespace weir::io
