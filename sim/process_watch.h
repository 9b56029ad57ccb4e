// ProcessWatch: tells when this process should end: SIGTERM, SIGINT, or the end of standard input, which is how a
// child notices that its parent has died, however it died.
// Invariant: made before any other thread, so that no thread takes the signals. `on_end` is called at most once, on a
// thread of its own.
#pragma once

#include "base/result.h"

#include <functional>
#include <memory>

namespace weir::sim {

class ProcessWatch {
public:
    // Errors: unavailable.
    [[nodiscard]] static base::Result<std::unique_ptr<ProcessWatch>> create(bool watch_stdin);
    ProcessWatch(const ProcessWatch&) = delete;
    ProcessWatch& operator=(const ProcessWatch&) = delete;
    ~ProcessWatch();

    void start(std::function<void()> on_end);

private:
    struct State;
    explicit ProcessWatch(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace weir::sim
