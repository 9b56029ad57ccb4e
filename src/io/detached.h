// Detached: the coroutine type at the root of a tree of tasks. Runs at once, and destroys itself when it ends.
// Only for owners that see how the work ended (TaskGroup, block_on): an exception that leaves it ends the process.
#pragma once

#include "io/frame_pool.h"

#include <coroutine>
#include <cstddef>
#include <exception>

namespace weir::io {

struct Detached {
    struct promise_type {
        static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
        static void operator delete(void* frame, std::size_t bytes) noexcept { free_frame(frame, bytes); }
        [[nodiscard]] Detached get_return_object() const noexcept { return {}; }
        [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
        [[nodiscard]] std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

}  // namespace weir::io
