#include "engine_model/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace weir::engine_model {

Engine::Engine(const Parameters& parameters, std::uint64_t seed)
    : parameters_{parameters}, seed_{seed}, free_blocks_{parameters.kv_blocks} {
    assert(check(parameters).has_value());
    counters_.accepted_per_position.resize(parameters.speculation.position_acceptance.size());
}

base::Result<RequestId> Engine::submit(const RequestSpec& spec, base::Instant now) {
    if (spec.prompt_tokens < 1 || spec.max_output_tokens < 1 || spec.natural_length.value_or(1) < 1)
        return base::fail(base::ErrorCode::invalid_argument,
                          "a request needs at least one prompt token and one output token");
    if (spec.prompt_tokens > parameters_.context_tokens - spec.max_output_tokens)
        return base::fail(base::ErrorCode::invalid_argument,
                          fmt::format("{} prompt and {} output tokens do not fit a context of {}", spec.prompt_tokens,
                                      spec.max_output_tokens, parameters_.context_tokens));
    const RequestId id{next_id_++};
    // A request's luck depends on the seed and its own number only, not on the company it keeps.
    constexpr std::uint64_t odd_constant = 0x9E3779B97F4A7C15U;
    waiting_.push_back({.id = id,
                        .spec = spec,
                        .acceptance = Acceptance{parameters_.speculation, seed_ ^ (id.value * odd_constant)},
                        .arrived_at = now});
    ++counters_.submitted;
    return id;
}

StepResult Engine::step(base::Instant now) {
    StepResult result;
    const auto preempted_before = counters_.preemptions;
    const int budget_left = plan_running(parameters_.step_token_budget);
    // Room that a preemption has made is for those who needed it, not for the queue.
    if (counters_.preemptions == preempted_before) plan_waiting(budget_left, now);
    if (running_.empty()) return result;

    const auto work = shape();
    result.batch_tokens = work.tokens;
    result.duration = step_time(parameters_.cost, parameters_.speculation, work);
    result.progress.reserve(running_.size());
    ++counters_.steps;
    for (auto& sequence : running_)
        advance(sequence, now + result.duration, result);
    std::erase_if(running_, [this](const Sequence& sequence) { return finish_reason(sequence).has_value(); });
    return result;
}

std::optional<Finished> Engine::abort(RequestId id, base::Instant now) {
    const auto is_it = [id](const Sequence& sequence) { return sequence.id == id; };
    std::optional<Finished> ended;
    if (const auto found = std::ranges::find_if(running_, is_it); found != running_.end()) {
        ended = describe(*found, FinishReason::aborted, now);
        free_blocks_ += found->blocks;
        running_.erase(found);
    } else if (const auto queued = std::ranges::find_if(waiting_, is_it); queued != waiting_.end()) {
        ended = describe(*queued, FinishReason::aborted, now);
        waiting_.erase(queued);
    }
    if (ended) ++counters_.aborted;
    return ended;
}

double Engine::kv_usage() const noexcept {
    return static_cast<double>(parameters_.kv_blocks - free_blocks_) / static_cast<double>(parameters_.kv_blocks);
}

// Sequences already admitted come first, oldest first; when the cache is full the youngest goes back to the queue.
// Returns what is left of the budget.
int Engine::plan_running(int budget) {
    for (std::size_t i = 0; i < running_.size(); ++i) {
        plan_sequence(running_[i], budget);
        while (i < running_.size() && !reserve(running_[i]))
            preempt_last();
        if (i < running_.size()) budget -= running_[i].planned;
    }
    return budget;
}

void Engine::plan_waiting(int budget, base::Instant now) {
    while (budget > 0 && !waiting_.empty() && running() < parameters_.max_running) {
        auto& sequence = waiting_.front();
        plan_sequence(sequence, budget);
        if (!reserve(sequence)) return;
        if (!sequence.scheduled_at) sequence.scheduled_at = now;
        budget -= sequence.planned;
        running_.push_back(std::move(sequence));
        waiting_.pop_front();
    }
}

// A prompt takes what the budget gives; a decoding sequence takes its last token and, where there is room, k drafts.
// No draft reaches beyond the context, whose last position needs none.
void Engine::plan_sequence(Sequence& sequence, int budget) const noexcept {
    sequence.planned = std::min(sequence.context() - sequence.computed, budget);
    sequence.drafted_now = 0;
    if (!sequence.decoding() || sequence.planned == 0) return;
    const int room = std::min(budget - sequence.planned, parameters_.context_tokens - sequence.context() - 1);
    sequence.drafted_now = std::clamp(room, 0, parameters_.speculation.proposal_length());
    sequence.planned += sequence.drafted_now;
}

bool Engine::reserve(Sequence& sequence) noexcept {
    const int tokens = sequence.computed + sequence.planned;
    const std::int64_t blocks = (tokens + parameters_.block_tokens - 1) / parameters_.block_tokens;
    const std::int64_t missing = std::max<std::int64_t>(blocks - sequence.blocks, 0);
    if (missing > free_blocks_) return false;
    sequence.blocks += missing;
    free_blocks_ -= missing;
    return true;
}

// The victim keeps the tokens it has generated and computes everything again when its turn comes.
void Engine::preempt_last() {
    auto victim = std::move(running_.back());
    running_.pop_back();
    free_blocks_ += victim.blocks;
    victim.blocks = 0;
    victim.computed = 0;
    victim.planned = 0;
    victim.drafted_now = 0;
    waiting_.push_front(std::move(victim));
    ++counters_.preemptions;
}

StepShape Engine::shape() const noexcept {
    StepShape shape;
    for (const auto& sequence : running_) {
        shape.tokens += sequence.planned;
        shape.drafted += sequence.drafted_now;
        if (sequence.planned > 0) shape.context_tokens += sequence.computed + sequence.planned;
    }
    return shape;
}

// Returns the number of accepted drafts and counts them, before any limit of the request cuts them.
int Engine::verify(Sequence& sequence) {
    if (sequence.drafted_now == 0) return 0;
    const int accepted = sequence.acceptance.draw(sequence.drafted_now);
    ++sequence.verify_steps;
    sequence.drafted += sequence.drafted_now;
    sequence.accepted += accepted;
    ++counters_.drafts;
    counters_.draft_tokens += static_cast<std::uint64_t>(sequence.drafted_now);
    counters_.accepted += static_cast<std::uint64_t>(accepted);
    for (std::size_t i = 0; i < static_cast<std::size_t>(accepted); ++i)
        ++counters_.accepted_per_position[i];
    return accepted;
}

void Engine::advance(Sequence& sequence, base::Instant ends_at, StepResult& result) {
    sequence.computed += sequence.planned - sequence.drafted_now;
    if (sequence.planned == 0 || sequence.computed < sequence.context()) return;  // prefill goes on

    const int accepted = verify(sequence);
    const int limit = std::min(sequence.spec.max_output_tokens,
                               sequence.spec.natural_length.value_or(sequence.spec.max_output_tokens));
    const int committed = std::min(accepted + 1, limit - sequence.generated);
    sequence.computed += committed - 1;
    sequence.generated += committed;
    if (!sequence.first_token_at) {
        sequence.first_token_at = ends_at;
        counters_.prompt_tokens += static_cast<std::uint64_t>(sequence.spec.prompt_tokens);
    }
    counters_.generation_tokens += static_cast<std::uint64_t>(committed);
    result.progress.push_back({.id = sequence.id, .tokens = committed});

    const auto reason = finish_reason(sequence);
    if (!reason) return;
    ++(*reason == FinishReason::stop ? counters_.finished_stop : counters_.finished_length);
    free_blocks_ += sequence.blocks;
    result.finished.push_back(describe(sequence, *reason, ends_at));
}

// nullopt while it goes on. A sequence that reaches both ends at once has stopped by itself.
std::optional<FinishReason> Engine::finish_reason(const Sequence& sequence) const noexcept {
    if (sequence.spec.natural_length && sequence.generated >= *sequence.spec.natural_length) return FinishReason::stop;
    if (sequence.generated >= sequence.spec.max_output_tokens) return FinishReason::length;
    return std::nullopt;
}

Finished Engine::describe(const Sequence& sequence, FinishReason reason, base::Instant now) {
    return {.id = sequence.id,
            .reason = reason,
            .prompt_tokens = sequence.spec.prompt_tokens,
            .output_tokens = sequence.generated,
            .arrived_at = sequence.arrived_at,
            .scheduled_at = sequence.scheduled_at,
            .first_token_at = sequence.first_token_at,
            .ended_at = now,
            .verify_steps = sequence.verify_steps,
            .drafted = sequence.drafted,
            .accepted = sequence.accepted};
}

}  // namespace weir::engine_model
