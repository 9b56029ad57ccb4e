#include "control/ticker.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace weir::control {

Ticker::Ticker(std::chrono::milliseconds interval, std::function<void()> work)
    : thread_{[interval, work = std::move(work)](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any wake;
          std::unique_lock lock{mutex};
          while (!wake.wait_for(lock, stop, interval, [] { return false; }) && !stop.stop_requested())
              work();
      }} {}

}  // namespace weir::control
