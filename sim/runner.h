// Runner: lets the pure engine model live in real time. It begins a step, waits until the step's time has passed, and
// then tells every request what the step has brought it.
// Invariant: a listener hears nothing after its request has finished or was withdrawn. Threads: the reactor's.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine_model/engine.h"
#include "io/reactor.h"
#include "sim/engine_metrics.h"
#include "sim/pacer.h"

#include <cstdint>
#include <unordered_map>

namespace weir::sim {

// Hears of one request. Must not submit or withdraw from within a call.
class StepListener {
public:
    virtual ~StepListener() = default;
    virtual void on_tokens(int tokens) = 0;                              // committed by one step
    virtual void on_finished(engine_model::FinishReason reason) = 0;     // after the last on_tokens
    virtual void on_shutdown() = 0;                                      // the engine stops; nothing more comes
};

class Runner {
public:
    Runner(io::Reactor& reactor, const engine_model::Parameters& parameters, std::uint64_t seed, EngineMetrics metrics);

    // `listener` outlives the request, or withdraws it.
    [[nodiscard]] base::Result<engine_model::RequestId> submit(const engine_model::RequestSpec& spec,
                                                               StepListener& listener);
    // Aborts a request; nothing happens when it has ended.
    void withdraw(engine_model::RequestId id);
    // No step begins any more; everybody hears on_shutdown.
    void shut_down();

    [[nodiscard]] std::string metrics_text() const { return metrics_.text(engine_, late_); }
    [[nodiscard]] std::size_t requests() const noexcept { return requests_.size(); }

private:
    struct Request {
        StepListener* listener = nullptr;
        base::Instant arrived_at{};
        std::optional<base::Instant> last_output_at{};
    };

    void begin_step(base::Instant at);
    void end_step();
    void report_tokens(const engine_model::Progress& progress);
    void report_finished(const engine_model::Finished& finished);

    engine_model::Engine engine_;
    EngineMetrics metrics_;
    std::unordered_map<std::uint64_t, Request> requests_;
    engine_model::StepResult step_;
    base::Instant step_ends_{};
    base::Nanoseconds late_{0};
    bool stepping_ = false;
    bool stopped_ = false;
    Pacer pacer_;  // last: its thread calls into the members above
};

}  // namespace weir::sim
