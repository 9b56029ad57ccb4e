// Simulator: one simulated engine behind HTTP: reactor, listener, server and engine put together.
// Threads: run() is the reactor's thread; stop() may be called from any. Lifetime: run() at most once.
#pragma once

#include "base/result.h"
#include "sim/options.h"

#include <memory>
#include <string>

namespace weir::sim {

class Simulator {
public:
    // Listens from now on. Precondition: check(options) is ok. Errors: unavailable, invalid_argument.
    [[nodiscard]] static base::Result<std::unique_ptr<Simulator>> create(const Options& options);
    Simulator(const Simulator&) = delete;
    Simulator& operator=(const Simulator&) = delete;
    ~Simulator();

    [[nodiscard]] std::string address() const;  // "127.0.0.1:8000", with the real port
    // Serves until stop(); streams that are still open are then cut, as when an engine dies.
    void run();
    void stop();

private:
    struct State;
    explicit Simulator(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace weir::sim
