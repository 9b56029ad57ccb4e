#include "io/mailbox.h"

#include <sys/eventfd.h>

#include <utility>

namespace weir::io {

void Mailbox::post(Work work) {
    bool was_empty = false;
    {
        const std::scoped_lock lock{mutex_};
        was_empty = posted_.empty();
        posted_.push_back(std::move(work));
    }
    // The counter would take 2^64 wake-ups to overflow, so this cannot fail.
    if (was_empty) static_cast<void>(::eventfd_write(wake_up_.get(), 1));
}

void Mailbox::run_all() noexcept {
    {
        const std::scoped_lock lock{mutex_};
        running_.swap(posted_);
    }
    for (Work& work : running_)
        work();
    running_.clear();
}

}  // namespace weir::io
