// Mailbox: work that other threads leave for a reactor, run in the order of posting.
// Invariant: the eventfd is written only when the box was empty, so a burst costs one system call.
// Threads: post() from any; run_all() from the owner.
#pragma once

#include "io/descriptor.h"

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace weir::io {

class Mailbox {
public:
    using Work = std::move_only_function<void()>;

    // Takes the write end of the wake-up: an eventfd (non-blocking) that is watched edge-triggered and never read.
    explicit Mailbox(Descriptor wake_up) noexcept : wake_up_{std::move(wake_up)} {}

    void post(Work work);
    // Runs what was posted before the call. What is posted meanwhile wakes the owner again. Work must not throw.
    void run_all() noexcept;
    [[nodiscard]] int descriptor() const noexcept { return wake_up_.get(); }

private:
    Descriptor wake_up_;
    std::mutex mutex_;
    std::vector<Work> posted_;
    std::vector<Work> running_;  // the owner's; swapped with posted_ so that both keep their capacity
};

}  // namespace weir::io
