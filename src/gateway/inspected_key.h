// InspectedKey: the root members of a request body that the gateway reads. A second one of the same (unescaped) name is
// refused, because engines would disagree on which of the two counts. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::gateway {

enum class InspectedKey : std::uint8_t {
    model,
    stream,
    stream_options,
    messages,
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
    previous_response_id,
    background,
    count,
};

[[nodiscard]] std::string_view name_of(InspectedKey key) noexcept;
[[nodiscard]] std::optional<InspectedKey> key_of(std::string_view name) noexcept;

}  // namespace weir::gateway
