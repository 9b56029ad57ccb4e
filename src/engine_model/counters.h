// Counters: what a simulated engine has done since it was made, in the terms of vLLM's metrics.
// Invariants, whatever happened: sum of accepted_per_position = accepted; accepted <= draft_tokens <= k * drafts;
// accepted_per_position never rises; submitted = finished + aborted + those still inside. Plain values.
#pragma once

#include <cstdint>
#include <vector>

namespace weir::engine_model {

struct Counters {
    std::uint64_t submitted = 0;
    std::uint64_t finished_stop = 0;
    std::uint64_t finished_length = 0;
    std::uint64_t aborted = 0;
    std::uint64_t prompt_tokens = 0;      // of prompts whose prefill is done, each counted once
    std::uint64_t generation_tokens = 0;  // handed out: accepted drafts and bonus tokens, without what a limit cut off
    std::uint64_t preemptions = 0;
    std::uint64_t steps = 0;
    std::uint64_t drafts = 0;  // one for each sequence and step that verified at least one proposed token
    std::uint64_t draft_tokens = 0;  // proposed
    std::uint64_t accepted = 0;  // of them, the bonus token not included
    std::vector<std::uint64_t> accepted_per_position;  // k entries
};

}  // namespace weir::engine_model
