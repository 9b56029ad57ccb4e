// Parameters: what decides how fast one simulated inference engine is: its scheduler's limits, the price of a step and
// the luck of its drafts. Invariant: an Engine is only made from parameters that check() accepts.
// Units: durations in nanoseconds, prices of single tokens in fractional nanoseconds. Plain values.
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <vector>

namespace weir::engine_model {

// The time of one step. A plain step costs launch + max(memory, arithmetic); drafting and verifying come on top.
struct StepCost {
    base::Nanoseconds launch{0};           // of every step, whatever its size
    base::Nanoseconds weights{0};          // memory: reading the weights once
    double kv_ns_per_token = 0;            // memory: reading one token of context
    double compute_ns_per_token = 0;       // arithmetic of one token in the batch
    base::Nanoseconds verify_overhead{0};  // of a step that verifies drafts: rejection sampler, lost fused kernels
    base::Nanoseconds draft_launch{0};     // of one draft pass
    double draft_ns_per_token = 0;         // of one proposed token
};

// How tokens are proposed, and how many survive.
struct Speculation {
    // P(position i is accepted) with everything before it, 0..1, never rising; its size is the proposal length k.
    // Empty = no speculation.
    std::vector<double> position_acceptance;
    // How much requests differ, 0..1: a request's own rates lie within +-spread * min(r, 1 - r) of r.
    double spread = 0.3;
    bool parallel_draft = false;  // all positions in one pass, instead of one pass for each

    [[nodiscard]] int proposal_length() const noexcept { return static_cast<int>(position_acceptance.size()); }
    [[nodiscard]] bool enabled() const noexcept { return !position_acceptance.empty(); }
    // Tokens committed by an average verify step, the bonus token included.
    [[nodiscard]] double mean_accepted_length() const noexcept;
};

struct Parameters {
    int max_running = 64;            // sequences in a batch, 1..100000
    int step_token_budget = 2048;    // tokens in one step, prefill chunks and drafts included; >= 1 + k
    int context_tokens = 32768;      // longest prompt and output together
    int block_tokens = 16;           // tokens in one KV block
    std::int64_t kv_blocks = 27480;  // at least one full context
    Speculation speculation;
    StepCost cost;
};

// Errors: invalid_argument, naming the first member that is out of range.
[[nodiscard]] base::Status check(const Parameters& parameters);

// What a step has to do.
struct StepShape {
    int tokens = 0;                   // in the target's batch: prefill chunks, last tokens, drafts
    std::int64_t context_tokens = 0;  // of all sequences in the batch, read from the KV cache
    int drafted = 0;                  // proposed tokens among them
};

[[nodiscard]] base::Nanoseconds step_time(const StepCost& cost, const Speculation& speculation,
                                          const StepShape& shape) noexcept;

}  // namespace weir::engine_model
