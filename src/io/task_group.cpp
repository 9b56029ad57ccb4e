#include "io/task_group.h"

#include "io/detached.h"
#include "io/event.h"

#include <cassert>
#include <utility>

namespace weir::io {

struct TaskGroup::State {
    State(Reactor& reactor, OnCrash crashed) : on_crash{std::move(crashed)}, empty{reactor} {}
    OnCrash on_crash;
    Event empty;
    std::size_t size = 0;
};

TaskGroup::TaskGroup(Reactor& reactor, OnCrash on_crash)
    : state_{std::make_shared<State>(reactor, std::move(on_crash))} {}

TaskGroup::~TaskGroup() { assert(state_->size == 0 && "cancel the tasks and await wait_empty() first"); }

void TaskGroup::spawn(Task<void> task) {
    ++state_->size;
    run_to_end(state_, std::move(task));
}

std::size_t TaskGroup::size() const noexcept { return state_->size; }

Task<base::Status> TaskGroup::wait_empty(Wait wait) { return until_empty(state_, wait); }

// The task's frame is gone before it counts as ended.
Detached TaskGroup::run_to_end(std::shared_ptr<State> state, Task<void> task) {
    {
        Task<void> running = std::move(task);
        try {
            co_await std::move(running);
        } catch (...) {
            state->on_crash(std::current_exception());
        }
    }
    --state->size;
    if (state->size == 0) state->empty.set();
}

Task<base::Status> TaskGroup::until_empty(std::shared_ptr<State> state, Wait wait) {
    while (state->size != 0) {
        state->empty.reset();
        base::Status waited = co_await state->empty.wait(wait);
        if (!waited) co_return waited;
    }
    co_return base::Status{};
}

}  // namespace weir::io
