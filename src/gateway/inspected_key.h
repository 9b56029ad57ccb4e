// InspectedKey: the root members of a request body that the gateway reads, and on which endpoints. A second one of the
// same (unescaped) name is refused, because engines would disagree on which of the two counts. Pure.
#pragma once

#include "model/endpoint.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::gateway {

enum class InspectedKey : std::uint8_t {
    model,
    stream,
    stream_options,
    messages,
    prompt,
    input,
    content,
    max_tokens,
    max_completion_tokens,
    n,
    best_of,
    temperature,
    tools,
    functions,
    response_format,
    structured_outputs,
    guided_json,
    guided_regex,
    guided_choice,
    guided_grammar,
    logprobs,
    top_logprobs,
    prompt_logprobs,
    min_p,
    logit_bias,
    min_tokens,
    presence_penalty,
    frequency_penalty,
    repetition_penalty,
    echo,
    suffix,
    reasoning_effort,
    encoding_format,
    dimensions,
    prompt_shape,  // any member that changes how many tokens a prompt becomes: its size is then not known
    previous_response_id,
    background,
    count,
};

struct KnownKey {
    InspectedKey key{};
    std::string_view name;      // static storage
    std::uint8_t position = 0;  // in the table of names; duplicates are found by it
};
// nullopt: the gateway does not read this member on that endpoint.
[[nodiscard]] std::optional<KnownKey> key_of(std::string_view name, model::Endpoint endpoint) noexcept;

}  // namespace weir::gateway
