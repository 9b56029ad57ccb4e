// Bell: wakes a thread that sleeps. ring() costs its caller one load unless the bell is armed, so that workers may ring
// at every request: arm(), look whether there is work, sleep(). Because ring()'s load is not ordered with what its
// caller wrote before, a ring may be missed in rare cases: sleep for a bounded time. Threads: one sleeps, any ring.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace weir::ledger {

class Bell {
public:
    // From here on the next ring() is kept for sleep().
    void arm() noexcept { armed_.store(true); }
    void ring() {
        if (armed_.load(std::memory_order_relaxed) && armed_.exchange(false)) wake();
    }
    // Wakes the sleeper, or keeps it from falling asleep the next time.
    void wake() {
        {
            const std::scoped_lock lock{mutex_};
            rung_ = true;
        }
        changed_.notify_one();
    }
    // Whether it was rung.
    bool sleep(std::chrono::milliseconds longest) {
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, longest, [this] { return rung_; });
        return std::exchange(rung_, false);
    }

private:
    std::atomic<bool> armed_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    bool rung_ = false;
};

}  // namespace weir::ledger
