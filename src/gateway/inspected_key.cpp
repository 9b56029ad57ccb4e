#include "gateway/inspected_key.h"

#include <array>
#include <cstddef>

namespace weir::gateway {

namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, static_cast<std::size_t>(InspectedKey::count)> names{"model",
                                                                                            "stream",
                                                                                            "stream_options",
                                                                                            "messages",
                                                                                            "max_tokens",
                                                                                            "max_completion_tokens",
                                                                                            "n",
                                                                                            "best_of",
                                                                                            "temperature",
                                                                                            "tools",
                                                                                            "functions",
                                                                                            "response_format",
                                                                                            "structured_outputs",
                                                                                            "guided_json",
                                                                                            "guided_regex",
                                                                                            "guided_choice",
                                                                                            "guided_grammar",
                                                                                            "logprobs",
                                                                                            "top_logprobs",
                                                                                            "prompt_logprobs",
                                                                                            "min_p",
                                                                                            "logit_bias",
                                                                                            "min_tokens",
                                                                                            "presence_penalty",
                                                                                            "frequency_penalty",
                                                                                            "repetition_penalty",
                                                                                            "echo",
                                                                                            "suffix",
                                                                                            "reasoning_effort",
                                                                                            "previous_response_id",
                                                                                            "background"};

}  // namespace

std::string_view name_of(InspectedKey key) noexcept { return names[static_cast<std::size_t>(key)]; }

std::optional<InspectedKey> key_of(std::string_view name) noexcept {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == name) return static_cast<InspectedKey>(i);
    return std::nullopt;
}

}  // namespace weir::gateway
