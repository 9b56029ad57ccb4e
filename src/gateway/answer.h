// Answer: reads one JSON object an engine sent (a stream's event or a whole body) and says what the gateway needs:
// usage, finish reasons, whether it carries output, which bytes must change on the way to the client.
// Never fails on unknown members; what cannot be read is absent. Pure; one AnswerReader for each worker.
#pragma once

#include "gateway/event_shape.h"
#include "gateway/splice.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::gateway {

// Token counts as an engine tells them; absent is not zero. Later values replace earlier ones field by field.
struct Usage {
    std::optional<std::uint64_t> prompt_tokens;
    std::optional<std::uint64_t> completion_tokens;
    std::optional<std::uint64_t> cached_tokens;
    std::optional<std::uint64_t> reasoning_tokens;

    void update(const Usage& newer) noexcept;
    [[nodiscard]] bool known() const noexcept { return completion_tokens.has_value() || prompt_tokens.has_value(); }
    [[nodiscard]] bool any() const noexcept { return known() || cached_tokens || reasoning_tokens; }
};

// Speculation statistics of one request, from llama.cpp `timings` or vLLM `metrics.speculative_decoding`.
struct SpeculationUsage {
    std::optional<std::uint64_t> steps;
    std::optional<std::uint64_t> drafted;
    std::optional<std::uint64_t> accepted;
    std::optional<double> accepted_length;
    [[nodiscard]] bool known() const noexcept { return drafted.has_value(); }
};

// What the client may see of the answer.
struct AnswerPolicy {
    std::string_view alias_json;                         // the alias as a JSON string: the value of every `model`
    std::span<const std::string_view> private_members;   // root members that are cut; empty for callers with `debug`
    bool wants_only_string = false;                      // Answer::only_string is of use
};

// One choice of the answer.
struct ChoiceMark {
    std::uint64_t index = 0;
    bool finished = false;
};

struct Answer {
    bool is_object = false;          // false: not JSON, or not an object
    bool has_error = false;          // a root `error` that is not null
    bool usage_only = false;         // `choices` is an empty array and `usage` is there
    bool carries_output = false;     // content, reasoning, refusal, tool call, or ids of tokens
    bool visible_output = false;     // content or refusal: what a client shows
    std::size_t output_bytes = 0;    // of the output, as JSON text
    std::uint64_t seen_choices = 0;      // bit i: choice i (< 64) occurred
    std::uint64_t finished_choices = 0;  // bit i: choice i has a finish reason
    std::vector<ChoiceMark> far_choices;  // those from 64 on
    std::optional<std::uint64_t> token_ids;  // how many the choices list, where the engine was asked to list them
    std::string finish_reason;           // the last one
    Usage usage;
    SpeculationUsage speculation;
    std::optional<StringSpan> only_string;  // where the output lies in the text, when it is one string without escapes
    std::vector<Edit> edits;  // relative to the text read, in order; replacements view the policy
};

class AnswerReader {
public:
    AnswerReader();
    AnswerReader(AnswerReader&&) noexcept;
    AnswerReader& operator=(AnswerReader&&) noexcept;
    ~AnswerReader();

    // 64 readable bytes follow `text`. The answer is valid until the next call (its memory is reused).
    [[nodiscard]] const Answer& read(std::string_view text, const AnswerPolicy& policy);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace weir::gateway
