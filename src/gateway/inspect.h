// Inspect: reads a request body once and says what the gateway needs to know of it; the body itself is never
// changed or copied. Only what is listed here is read; unknown fields pass (pitfalls P030).
// Offsets are bytes into the body. Pure; one Inspector for each worker (it keeps the parser's memory).
#pragma once

#include "base/result.h"
#include "model/endpoint.h"
#include "model/feature.h"
#include "model/reason.h"
#include "routing/prompt_overhead.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace weir::gateway {

// A half-open range of bytes of the body; empty = not present.
struct ByteRange {
    std::size_t begin = 0;
    std::size_t end = 0;
    [[nodiscard]] bool present() const noexcept { return end > begin; }
};

enum class TemperatureClass : std::uint8_t { unknown, greedy, sampled };

// The size of the prompt (the largest, where there are several) as far as it can be told without a tokenizer.
struct PromptFacts {
    std::uint64_t count = 1;       // prompts in this request
    std::uint64_t text_bytes = 0;  // JSON text that becomes the prompt; the whole body for messages
    std::uint64_t token_ids = 0;   // of the largest prompt that is nothing but ids: exact, so a true lower bound
    bool reshaped = false;         // a member (chat_template, truncate_prompt_tokens ...) changes its tokens
};

struct Inspected {
    std::string model;                 // unescaped
    ByteRange model_value;             // with its quotes
    bool stream = false;
    ByteRange stream_options;          // the value: an object or null
    bool stream_options_is_object = false;
    bool stream_options_is_empty = false;  // "{}"
    ByteRange include_usage;           // the value inside stream_options
    bool include_usage_asked = false;  // it was `true`; an explicit false counts as not asked
    model::FeatureSet features;
    std::optional<std::uint64_t> max_tokens;  // max_completion_tokens, else max_tokens
    std::uint64_t choices = 1;                // n, for each of several prompts
    TemperatureClass temperature = TemperatureClass::unknown;
    PromptFacts prompt;
};

// Which of a pool's templates makes the prompt.
[[nodiscard]] routing::PromptKind prompt_kind(model::Endpoint endpoint, const Inspected& inspected) noexcept;

// Why a body is refused: invalid_json, invalid_request or unsupported_parameter; `param` names the field.
struct InspectError {
    model::Reason reason{};
    std::string message;
    std::string param;
};

class Inspector {
public:
    Inspector();
    Inspector(Inspector&&) noexcept;
    Inspector& operator=(Inspector&&) noexcept;
    ~Inspector();

    // `body` must have a capacity of size() + 64. UTF-8 is checked for the whole body; JSON syntax as far as it is
    // read. Embeddings and tokenize never stream: their `stream` is a member like any other.
    [[nodiscard]] std::expected<Inspected, InspectError> inspect(const std::string& body, model::Endpoint endpoint);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace weir::gateway
