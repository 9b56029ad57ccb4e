#include "io/wait.h"

#include <cassert>
#include <string>

namespace weir::io {

base::Status to_status(Outcome outcome, std::string_view what) {
    const auto error = [what](base::ErrorCode code, std::string_view why) {
        return base::fail(code, std::string{what}.append(": ").append(why));
    };
    switch (outcome) {
        case Outcome::ok: return {};
        case Outcome::timed_out: return error(base::ErrorCode::timeout, "the deadline passed");
        case Outcome::cancelled: return error(base::ErrorCode::cancelled, "cancelled");
        case Outcome::closed: return error(base::ErrorCode::closed, "closed on this side");
        case Outcome::pending: break;
    }
    assert(false && "resumed before the wait had an outcome");
    return error(base::ErrorCode::internal, "resumed without an outcome");
}

Cancel::~Cancel() { fire(); }

void Cancel::fire() noexcept {
    fired_ = true;
    while (WaitNode* const waiter = waiters_.pop_front())
        waiter->complete(Outcome::cancelled);
}

void WaitNode::complete(Outcome outcome) noexcept {
    if (outcome_ != Outcome::pending) return;
    outcome_ = outcome;
    detach();
    unlink();  // from the Cancel, or from the queue for the next turn
    queue_->push(*this);
}

void WaitNode::suspend(std::coroutine_handle<> continuation, Cancel* cancel) noexcept {
    continuation_ = continuation;
    if (cancel != nullptr) cancel->waiters_.push_back(*this);
}

void WaitNode::suspend_until_next_turn(std::coroutine_handle<> continuation) noexcept {
    continuation_ = continuation;
    queue_->push_next_turn(*this);
}

void WaitNode::resume() {
    if (outcome_ == Outcome::pending) {
        outcome_ = Outcome::ok;
        detach();
    }
    continuation_.resume();  // this node may be gone from here on
}

void ReadyQueue::resume_all(IntrusiveList<WaitNode>& nodes) {
    while (WaitNode* const node = nodes.pop_front())
        node->resume();
}

// Who gave way comes last; who gives way meanwhile is not for this turn.
void ReadyQueue::run_turn() {
    IntrusiveList<WaitNode> gave_way;
    gave_way.take(next_turn_);
    for (int round = 0; round < rounds_per_turn && !ready_.empty(); ++round) {
        IntrusiveList<WaitNode> batch;
        batch.take(ready_);
        resume_all(batch);
    }
    resume_all(gave_way);
}

bool SleepAwaiter::await_ready() noexcept {
    if (wait_.cancel != nullptr && wait_.cancel->fired())
        conclude(Outcome::cancelled);
    else if (wait_.deadline <= now_)
        conclude(Outcome::ok);
    return outcome() != Outcome::pending;
}

void SleepAwaiter::await_suspend(std::coroutine_handle<> continuation) noexcept {
    suspend(continuation, wait_.cancel);
    wheel_.arm(*this, wait_.deadline);
}

base::Status SleepAwaiter::await_resume() const { return to_status(outcome(), "sleep"); }

void SleepAwaiter::expired() noexcept { complete(Outcome::ok); }

}  // namespace weir::io
