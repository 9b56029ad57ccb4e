// Engine: a model of one inference engine: continuous batching with chunked prefill, paged KV cache with preemption,
// and draft-and-verify steps that commit 1..k+1 tokens for each decoding sequence. Pure: time is an argument.
// Invariant: the same parameters, seed and calls give the same results on every machine. Not thread-safe.
// There is no prefix cache in this model: every prompt is computed whole.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine_model/acceptance.h"
#include "engine_model/counters.h"
#include "engine_model/parameters.h"

#include <compare>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace weir::engine_model {

struct RequestId {
    std::uint64_t value = 0;
    friend auto operator<=>(const RequestId&, const RequestId&) = default;
};

struct RequestSpec {
    int prompt_tokens = 1;                // >= 1
    int max_output_tokens = 16;           // >= 1
    std::optional<int> natural_length{};  // tokens after which the model would stop by itself, its end token included
};

enum class FinishReason : std::uint8_t { stop, length, aborted };

// What is known of a request when it ends.
struct Finished {
    RequestId id;
    FinishReason reason{};
    int prompt_tokens = 0;
    int output_tokens = 0;
    base::Instant arrived_at{};
    std::optional<base::Instant> scheduled_at{};  // left the queue for the first time
    std::optional<base::Instant> first_token_at{};
    base::Instant ended_at{};
    int verify_steps = 0;  // with at least one proposed token
    int drafted = 0;
    int accepted = 0;
};

struct Progress {
    RequestId id;
    int tokens = 0;  // committed in this step, >= 1
};

struct StepResult {
    base::Nanoseconds duration{0};  // 0 = there was nothing to do
    int batch_tokens = 0;  // computed by the target: prefill, last tokens, drafts
    std::vector<Progress> progress;  // takes effect at the end of the step
    std::vector<Finished> finished;  // after the progress of the same step
};

class Engine {
public:
    // Precondition: check(parameters) is ok.
    Engine(const Parameters& parameters, std::uint64_t seed);

    // Queues a request. Errors: invalid_argument when prompt and output cannot fit the context.
    [[nodiscard]] base::Result<RequestId> submit(const RequestSpec& spec, base::Instant now);

    // Plans and performs the step that begins at `now`; the caller lets `duration` pass before the next one.
    [[nodiscard]] StepResult step(base::Instant now);

    // Takes a request out, wherever it is; nullopt when it is not there (any more).
    std::optional<Finished> abort(RequestId id, base::Instant now);

    [[nodiscard]] bool idle() const noexcept { return running_.empty() && waiting_.empty(); }
    [[nodiscard]] int running() const noexcept { return static_cast<int>(running_.size()); }
    [[nodiscard]] int waiting() const noexcept { return static_cast<int>(waiting_.size()); }
    [[nodiscard]] double kv_usage() const noexcept;  // 0..1
    [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
    [[nodiscard]] const Parameters& parameters() const noexcept { return parameters_; }

private:
    struct Sequence {
        RequestId id;
        RequestSpec spec;
        Acceptance acceptance;
        base::Instant arrived_at;
        std::optional<base::Instant> scheduled_at{};
        std::optional<base::Instant> first_token_at{};
        int computed = 0;  // tokens whose keys and values are in the cache
        int generated = 0;
        std::int64_t blocks = 0;
        int planned = 0;  // tokens of this step, drafts included
        int drafted_now = 0;  // drafts among them
        int verify_steps = 0;
        int drafted = 0;
        int accepted = 0;

        [[nodiscard]] int context() const noexcept { return spec.prompt_tokens + generated; }
        [[nodiscard]] bool decoding() const noexcept { return generated > 0 && computed + 1 == context(); }
    };

    int plan_running(int budget);
    void plan_waiting(int budget, base::Instant now);
    void plan_sequence(Sequence& sequence, int budget) const noexcept;
    [[nodiscard]] bool reserve(Sequence& sequence) noexcept;
    void preempt_last();
    [[nodiscard]] StepShape shape() const noexcept;
    [[nodiscard]] int verify(Sequence& sequence);
    void advance(Sequence& sequence, base::Instant ends_at, StepResult& result);
    [[nodiscard]] std::optional<FinishReason> finish_reason(const Sequence& sequence) const noexcept;
    [[nodiscard]] static Finished describe(const Sequence& sequence, FinishReason reason, base::Instant now);

    Parameters parameters_;
    std::uint64_t seed_;
    std::uint64_t next_id_ = 1;
    std::deque<Sequence> waiting_;
    std::vector<Sequence> running_;  // in the order of admission
    std::int64_t free_blocks_;
    Counters counters_;
};

}  // namespace weir::engine_model
