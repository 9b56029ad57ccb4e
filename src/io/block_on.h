// block_on: runs a reactor until one task has ended. For commands and tests, where nobody else runs the loop.
// Threads: the reactor's; not from within run().
#pragma once

#include "io/detached.h"
#include "io/reactor.h"
#include "io/task.h"

#include <exception>
#include <optional>
#include <utility>

namespace weir::io {
namespace detail {

template <class T>
struct Ending {
    std::optional<T> value;
    std::exception_ptr failure;
};

template <class T>
Detached run_to_end(Task<T> task, Reactor& reactor, Ending<T>& ending) {
    try {
        ending.value.emplace(co_await std::move(task));
    } catch (...) {
        ending.failure = std::current_exception();
    }
    reactor.stop();
}

inline Task<bool> with_value(Task<void> task) {
    co_await std::move(task);
    co_return true;
}

}  // namespace detail

// The task's value; rethrows the exception that left it.
template <class T>
T block_on(Reactor& reactor, Task<T> task) {
    detail::Ending<T> ending;
    detail::run_to_end(std::move(task), reactor, ending);
    reactor.run();
    if (ending.failure) std::rethrow_exception(ending.failure);
    return *std::move(ending.value);
}

inline void block_on(Reactor& reactor, Task<void> task) {
    static_cast<void>(block_on(reactor, detail::with_value(std::move(task))));
}

}  // namespace weir::io
