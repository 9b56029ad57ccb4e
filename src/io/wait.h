// Wait: how long a coroutine may stay suspended; WaitNode: one suspended coroutine; ReadyQueue: those to resume.
// Invariant: whatever ends a wait (readiness, deadline, cancel, close) only queues the coroutine; the reactor
// resumes it later, from the top of its loop. Threads: one reactor's thread.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "io/cancel.h"
#include "io/intrusive.h"
#include "io/timer_wheel.h"

#include <coroutine>
#include <cstdint>
#include <string_view>

namespace weir::io {

// When a wait ends without what it waits for. A deadline is kept to within the wheel's tick (<= 10 ms, never early).
struct Wait {
    base::Instant deadline = base::never;
    Cancel* cancel = nullptr;  // outlives the wait
};

enum class Outcome : std::uint8_t { pending, ok, timed_out, cancelled, closed };

// ok, or an error whose text is "`what`: deadline passed" and the like.
[[nodiscard]] base::Status to_status(Outcome outcome, std::string_view what);

class ReadyQueue;

// Base of all awaiters; lives in the frame of the coroutine that waits. Linked into the Cancel, then the queue.
class WaitNode : public ListLink<WaitNode> {
public:
    explicit WaitNode(ReadyQueue* queue) noexcept : queue_{queue} {}  // nullptr: never suspends
    WaitNode(const WaitNode&) = delete;
    WaitNode& operator=(const WaitNode&) = delete;

    // Ends the wait and queues the coroutine. The first outcome counts.
    void complete(Outcome outcome) noexcept;

protected:
    ~WaitNode() = default;
    // For await_ready: the wait is over before it began.
    void conclude(Outcome outcome) noexcept { outcome_ = outcome; }
    // For await_suspend: from now on `wait.cancel` can end the wait.
    void suspend(std::coroutine_handle<> continuation, Cancel* cancel) noexcept;
    // For await_suspend: gives way to everything else, and goes on in the next turn.
    void suspend_until_next_turn(std::coroutine_handle<> continuation) noexcept;
    [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }

private:
    friend class ReadyQueue;
    // Makes what is waited for forget this node, when it knows it by more than a link: links go with the node.
    virtual void detach() noexcept {}
    void resume();

    ReadyQueue* queue_;
    std::coroutine_handle<> continuation_;
    Outcome outcome_ = Outcome::pending;
};

class ReadyQueue {
public:
    void push(WaitNode& node) noexcept { ready_.push_back(node); }
    void push_next_turn(WaitNode& node) noexcept { next_turn_.push_back(node); }
    [[nodiscard]] bool empty() const noexcept { return ready_.empty() && next_turn_.empty(); }
    // Resumes what is ready, and in a few more rounds what that made ready; the rest waits for the next turn.
    void run_turn();

private:
    static constexpr int rounds_per_turn = 4;
    static void resume_all(IntrusiveList<WaitNode>& nodes);

    IntrusiveList<WaitNode> ready_;
    IntrusiveList<WaitNode> next_turn_;
};

// co_await reactor.sleep(wait)
class SleepAwaiter final : private WaitNode, private Timer {
public:
    SleepAwaiter(ReadyQueue& queue, TimerWheel& wheel, base::Instant now, Wait wait) noexcept
        : WaitNode{&queue}, wheel_{wheel}, now_{now}, wait_{wait} {}
    [[nodiscard]] bool await_ready() noexcept;
    void await_suspend(std::coroutine_handle<> continuation) noexcept;
    [[nodiscard]] base::Status await_resume() const;

private:
    void expired() noexcept override;

    TimerWheel& wheel_;
    base::Instant now_;
    Wait wait_;
};

}  // namespace weir::io
