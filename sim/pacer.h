// Pacer: calls back on the reactor's thread at an exact time. The reactor's own timers are kept to 10 ms, which is
// longer than many simulated steps; a thread that only sleeps is exact to about 0.1 ms.
// Invariant: at most one time is set. Threads: all members belong to the reactor's thread.
#pragma once

#include "base/time.h"
#include "io/reactor.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace weir::sim {

class Pacer {
public:
    // `on_due` may set the next time. `reactor` and what `on_due` uses outlive the Pacer and the reactor's last turn.
    Pacer(io::Reactor& reactor, std::function<void()> on_due);
    Pacer(const Pacer&) = delete;
    Pacer& operator=(const Pacer&) = delete;
    ~Pacer();

    // Replaces a time that was set; a time that has passed is due at once.
    void wake_at(base::Instant due);

private:
    void run();

    io::Reactor& reactor_;
    std::function<void()> on_due_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<base::Instant> due_;  // guarded by mutex_
    bool stopping_ = false;  // guarded by mutex_
    std::thread thread_;  // last: it uses the members above
};

}  // namespace weir::sim
