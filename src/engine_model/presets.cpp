#include "engine_model/presets.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace weir::engine_model {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view large_model = "sim/large-70b";
constexpr std::string_view small_model = "sim/small-8b";

// A 70B model on one large GPU: 18 ms a step while it is bound by memory, which ends near 270 tokens in a batch.
Parameters large() {
    Parameters p;
    p.max_running = 256;
    p.step_token_budget = 2048;
    p.context_tokens = 32768;
    p.kv_blocks = 27480;
    p.cost = {.launch = 2ms, .weights = 16ms, .kv_ns_per_token = 62, .compute_ns_per_token = 60'000};
    return p;
}

Preset baseline() {
    return {.name = "baseline",
            .summary = "70B model without speculation, 18 ms a step",
            .model = large_model,
            .method = "none",
            .parameters = large()};
}

Preset eagle3_k3() {
    auto p = large();
    p.kv_blocks = 24000;  // the draft head and its cache take their share
    p.speculation.position_acceptance = {0.84, 0.62, 0.44};
    p.cost.verify_overhead = 1ms;
    p.cost.draft_launch = 1200us;
    p.cost.draft_ns_per_token = 5'000;
    return {.name = "eagle3-k3",
            .summary = "the same with EAGLE-3, k = 3: 2.9 tokens a step, wins until the batch is bound by arithmetic",
            .model = large_model,
            .method = "eagle3",
            .parameters = p};
}

Preset mtp_k1() {
    auto p = large();
    p.kv_blocks = 26500;
    p.speculation.position_acceptance = {0.86};
    p.cost.verify_overhead = 800us;
    p.cost.draft_launch = 1ms;
    p.cost.draft_ns_per_token = 4'000;
    return {.name = "mtp-k1",
            .summary = "the same with native MTP, k = 1: 1.86 tokens a step at a small price",
            .model = large_model,
            .method = "mtp",
            .parameters = p};
}

Parameters small() {
    auto p = large();
    p.kv_blocks = 60000;
    p.cost = {.launch = 1500us, .weights = 4500us, .kv_ns_per_token = 27, .compute_ns_per_token = 8'000};
    return p;
}

Preset small_baseline() {
    return {.name = "small-baseline",
            .summary = "8B model without speculation, 6 ms a step: what slow-loser loses against",
            .model = small_model,
            .method = "none",
            .parameters = small()};
}

// The fixed price of drafting and verifying is three plain steps: a good acceptance cannot pay for it.
Preset slow_loser() {
    auto p = small();
    p.kv_blocks = 54000;
    p.speculation.position_acceptance = {0.80, 0.62, 0.48, 0.37, 0.28};
    p.cost.verify_overhead = 14500us;
    p.cost.draft_launch = 700us;
    p.cost.draft_ns_per_token = 3'000;
    return {.name = "slow-loser",
            .summary = "8B model with EAGLE-3, k = 5: 3.55 tokens a step, and still slower than without",
            .model = small_model,
            .method = "eagle3",
            .parameters = p};
}

Parameters tiny() {
    Parameters p;
    p.max_running = 256;
    p.step_token_budget = 8192;
    p.context_tokens = 4096;
    p.kv_blocks = 65536;
    p.cost = {.launch = 200us, .weights = 100us, .kv_ns_per_token = 0.5, .compute_ns_per_token = 100};
    return p;
}

Preset tiny_fast() {
    return {.name = "tiny-fast",
            .summary = "for tests: 0.3 ms a step, no speculation",
            .model = "sim/tiny",
            .method = "none",
            .parameters = tiny()};
}

Preset tiny_fast_k2() {
    auto p = tiny();
    p.speculation.position_acceptance = {0.75, 0.50};
    p.cost.verify_overhead = 30us;
    p.cost.draft_launch = 20us;
    return {.name = "tiny-fast-k2",
            .summary = "for tests: 0.37 ms a step, k = 2",
            .model = "sim/tiny",
            .method = "eagle3",
            .parameters = p};
}

Preset crowd() {
    Parameters p;
    p.max_running = 2048;
    p.step_token_budget = 16384;
    p.context_tokens = 32768;
    p.kv_blocks = 1'000'000;
    p.cost = {.launch = 10ms, .weights = 50ms, .kv_ns_per_token = 5, .compute_ns_per_token = 2'000};
    return {.name = "crowd",
            .summary = "for tests with many slow streams: 2048 sequences at once, 60 ms a step or more",
            .model = "sim/crowd",
            .method = "none",
            .parameters = p};
}

}  // namespace

std::span<const Preset> presets() {
    static const std::vector<Preset> all{baseline(),   eagle3_k3(), mtp_k1(),       small_baseline(),
                                         slow_loser(), tiny_fast(), tiny_fast_k2(), crowd()};
    return all;
}

const Preset* find_preset(std::string_view name) {
    const auto all = presets();
    const auto found = std::ranges::find(all, name, &Preset::name);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace weir::engine_model
