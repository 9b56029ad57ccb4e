// EngineMetrics: the simulated engine's numbers under vLLM's names, in Prometheus text.
// Invariant: speculative counters exist exactly when the engine speculates, and have all positions from the start.
// One thread. Units: seconds and tokens.
#pragma once

#include "base/time.h"
#include "engine_model/engine.h"
#include "sim/histogram.h"

#include <string>

namespace weir::sim {

class EngineMetrics {
public:
    // `model` becomes the label model_name; `started_at` is when the process began.
    EngineMetrics(std::string model, base::WallTime started_at);

    void observe_step(const engine_model::StepResult& result);
    // The time between two outputs of one request; with speculation that is a step, not a token.
    void observe_output_gap(base::Nanoseconds gap);
    void observe_first_token(base::Nanoseconds since_arrival);
    void observe_finished(const engine_model::Finished& finished);

    // `late` is by how much the simulation has fallen behind its own clock since the start.
    [[nodiscard]] std::string text(const engine_model::Engine& engine, base::Nanoseconds late) const;

private:
    std::string model_;
    base::WallTime started_at_;
    Histogram first_token_;
    Histogram output_gap_;
    Histogram time_per_token_;
    Histogram whole_;
    Histogram queue_;
    Histogram inference_;
    Histogram prefill_;
    Histogram decode_;
    Histogram prompt_tokens_;
    Histogram generation_tokens_;
    Histogram step_tokens_;
};

}  // namespace weir::sim
