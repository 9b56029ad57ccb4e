#include "sim/pacer.h"

#include <utility>

namespace weir::sim {

Pacer::Pacer(io::Reactor& reactor, std::function<void()> on_due)
    : reactor_{reactor}, on_due_{std::move(on_due)}, thread_{[this] { run(); }} {}

Pacer::~Pacer() {
    {
        const std::scoped_lock lock{mutex_};
        stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void Pacer::wake_at(base::Instant due) {
    {
        const std::scoped_lock lock{mutex_};
        due_ = due;
    }
    changed_.notify_one();
}

void Pacer::run() {
    std::unique_lock lock{mutex_};
    while (!stopping_) {
        if (!due_) {
            changed_.wait(lock);
        } else if (base::monotonic_now() < *due_) {
            changed_.wait_until(lock, *due_);
        } else {
            due_.reset();
            reactor_.post([this] { on_due_(); });
        }
    }
}

}  // namespace weir::sim
