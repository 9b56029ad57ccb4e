// Task: a coroutine that produces one T, or a T that was there at once (then nothing suspends and no frame is made).
// Lazy: a coroutine runs when it is awaited, and it is awaited exactly once.
// Invariant: the frame lives as long as the Task; a suspended, started Task is never destroyed (its waits are
// ended with an error instead). Threads: created, awaited and destroyed on one. An exception crosses co_await.
#pragma once

#include "io/frame_pool.h"

#include <cassert>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace weir::io {

template <class T = void>
class Task;

namespace detail {

// What all promises share: the frame's memory, who continues afterwards, and the exception that ended the task.
class PromiseBase {
public:
    // Symmetric transfer: the stack does not grow, however many tasks end one after the other.
    struct FinalAwaiter {
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        template <std::derived_from<PromiseBase> Promise>
        [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
            return ended.promise().continuation_;
        }
        void await_resume() const noexcept {}
    };

    static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept { free_frame(frame, bytes); }

    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] FinalAwaiter final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { failure_ = std::current_exception(); }

    void continue_with(std::coroutine_handle<> continuation) noexcept {
        assert(!continuation_ && "a task is awaited exactly once");
        continuation_ = continuation;
    }

protected:
    void rethrow_failure() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    std::coroutine_handle<> continuation_;
    std::exception_ptr failure_;
};

template <class T>
class Promise final : public PromiseBase {
public:
    [[nodiscard]] Task<T> get_return_object() noexcept;
    template <class U = T>
        requires std::convertible_to<U&&, T>
    void return_value(U&& value) {
        value_.emplace(std::forward<U>(value));
    }
    [[nodiscard]] T take() {
        rethrow_failure();
        return *std::move(value_);
    }

private:
    std::optional<T> value_;  // T needs no default constructor
};

template <>
class Promise<void> final : public PromiseBase {
public:
    [[nodiscard]] Task<void> get_return_object() noexcept;
    void return_void() const noexcept {}
    void take() const { rethrow_failure(); }
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
    static_assert(!std::is_reference_v<T>, "return a pointer: a reference hides who outlives whom");

public:
    using promise_type = detail::Promise<T>;
    using Handle = std::coroutine_handle<promise_type>;
    using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

    explicit Task(Handle frame) noexcept : frame_{frame} {}
    // A task that has ended already.
    [[nodiscard]] static Task ended(Value value = {}) { return Task{std::move(value)}; }
    Task(Task&& other) noexcept : frame_{std::exchange(other.frame_, nullptr)}, value_{std::move(other.value_)} {
        other.value_.reset();
    }
    Task& operator=(Task&& other) noexcept {
        Task old{std::move(*this)};
        frame_ = std::exchange(other.frame_, nullptr);
        value_ = std::exchange(other.value_, std::nullopt);
        return *this;
    }
    ~Task() {
        if (frame_) frame_.destroy();
    }

    // What it ended with, before it is awaited; nullptr for a coroutine.
    [[nodiscard]] Value* ended_with() noexcept { return value_ ? &*value_ : nullptr; }

    // co_await call(...), or co_await std::move(task): the value, or the exception that left the task.
    [[nodiscard]] auto operator co_await() && noexcept {
        assert((frame_ || value_) && "a moved-from task cannot be awaited");
        return Awaiter{*this};
    }

private:
    struct Awaiter {
        Task& task;
        [[nodiscard]] bool await_ready() const noexcept { return task.value_.has_value(); }
        [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) const noexcept {
            task.frame_.promise().continue_with(awaiting);
            return task.frame_;
        }
        [[nodiscard]] T await_resume() const {
            if (!task.value_) return task.frame_.promise().take();
            if constexpr (!std::is_void_v<T>) return *std::move(task.value_);
        }
    };

    explicit Task(Value value) : value_{std::move(value)} {}

    Handle frame_;
    std::optional<Value> value_;
};

namespace detail {

template <class T>
Task<T> Promise<T>::get_return_object() noexcept {
    return Task<T>{std::coroutine_handle<Promise>::from_promise(*this)};
}

inline Task<void> Promise<void>::get_return_object() noexcept {
    return Task<void>{std::coroutine_handle<Promise>::from_promise(*this)};
}

}  // namespace detail

}  // namespace weir::io
