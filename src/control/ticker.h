// Ticker: a thread that does one piece of work at intervals until it is destroyed: for work that blocks, which has no
// place on a reactor.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace weir::control {

class Ticker {
public:
    // `work` must not throw; it runs for the first time after one interval.
    Ticker(std::chrono::milliseconds interval, std::function<void()> work);

private:
    std::jthread thread_;  // stopped and joined by its destructor
};

}  // namespace weir::control
