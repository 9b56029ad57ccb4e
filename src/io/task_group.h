// TaskGroup: the owner of tasks that nobody awaits. It sees how each ended, and is empty before it dies.
// Threads: one reactor's thread. An exception that leaves a task is reported to `on_crash`, never lost.
#pragma once

#include "base/result.h"
#include "io/reactor.h"
#include "io/task.h"

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

namespace weir::io {

struct Detached;

class TaskGroup {
public:
    using OnCrash = std::move_only_function<void(std::exception_ptr)>;
    TaskGroup(Reactor& reactor, OnCrash on_crash);
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;
    ~TaskGroup();  // asserts that it is empty

    // Starts the task at once, on this thread.
    void spawn(Task<void> task);
    [[nodiscard]] std::size_t size() const noexcept;
    // Waits until the group is empty. Errors: timeout, cancelled.
    [[nodiscard]] Task<base::Status> wait_empty(Wait wait);

private:
    struct State;
    [[nodiscard]] static Task<base::Status> until_empty(std::shared_ptr<State> state, Wait wait);
    static Detached run_to_end(std::shared_ptr<State> state, Task<void> task);
    std::shared_ptr<State> state_;
};

}  // namespace weir::io
