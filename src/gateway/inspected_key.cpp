#include "gateway/inspected_key.h"

#include <array>

namespace weir::gateway {

namespace {

using Key = InspectedKey;
using model::Endpoint;

constexpr model::EndpointSet set_of(std::initializer_list<Endpoint> endpoints) noexcept {
    model::EndpointSet set;
    for (const Endpoint endpoint : endpoints)
        set.add(endpoint);
    return set;
}

constexpr auto chat = set_of({Endpoint::chat_completions});
constexpr auto text = set_of({Endpoint::completions});
constexpr auto vectors = set_of({Endpoint::embeddings});
constexpr auto generating = set_of({Endpoint::chat_completions, Endpoint::completions});
constexpr auto every =
    set_of({Endpoint::chat_completions, Endpoint::completions, Endpoint::embeddings, Endpoint::tokenize});

struct Row {
    std::string_view name;
    Key key{};
    model::EndpointSet endpoints;
};

// Sorted by the length of the name: that is how it is searched.
constexpr std::array rows{
    Row{"n", Key::n, generating},
    Row{"echo", Key::echo, generating},
    Row{"model", Key::model, every},
    Row{"tools", Key::tools, chat},
    Row{"input", Key::input, vectors},
    Row{"min_p", Key::min_p, generating},
    Row{"stream", Key::stream, generating},
    Row{"prompt", Key::prompt, set_of({Endpoint::completions, Endpoint::tokenize})},
    Row{"suffix", Key::suffix, generating},
    Row{"content", Key::content, set_of({Endpoint::tokenize})},
    Row{"best_of", Key::best_of, generating},
    Row{"messages", Key::messages, set_of({Endpoint::chat_completions, Endpoint::embeddings, Endpoint::tokenize})},
    Row{"logprobs", Key::logprobs, generating},
    Row{"truncate", Key::prompt_shape, every},
    Row{"functions", Key::functions, chat},
    Row{"documents", Key::prompt_shape, every},
    Row{"max_tokens", Key::max_tokens, generating},
    Row{"logit_bias", Key::logit_bias, generating},
    Row{"min_tokens", Key::min_tokens, generating},
    Row{"background", Key::background, generating},
    Row{"dimensions", Key::dimensions, vectors},
    Row{"temperature", Key::temperature, generating},
    Row{"guided_json", Key::guided_json, generating},
    Row{"guided_regex", Key::guided_regex, generating},
    Row{"top_logprobs", Key::top_logprobs, generating},
    Row{"guided_choice", Key::guided_choice, generating},
    Row{"chat_template", Key::prompt_shape, every},
    Row{"prompt_embeds", Key::prompt_shape, text},
    Row{"stream_options", Key::stream_options, generating},
    Row{"guided_grammar", Key::guided_grammar, generating},
    Row{"response_format", Key::response_format, generating},
    Row{"prompt_logprobs", Key::prompt_logprobs, generating},
    Row{"encoding_format", Key::encoding_format, vectors},
    Row{"presence_penalty", Key::presence_penalty, generating},
    Row{"reasoning_effort", Key::reasoning_effort, chat},
    Row{"frequency_penalty", Key::frequency_penalty, generating},
    Row{"structured_outputs", Key::structured_outputs, generating},
    Row{"repetition_penalty", Key::repetition_penalty, generating},
    Row{"add_special_tokens", Key::prompt_shape, every},
    Row{"mm_processor_kwargs", Key::prompt_shape, every},
    Row{"chat_template_kwargs", Key::prompt_shape, every},
    Row{"previous_response_id", Key::previous_response_id, generating},
    Row{"max_completion_tokens", Key::max_completion_tokens, chat},
    Row{"add_generation_prompt", Key::prompt_shape, every},
    Row{"truncate_prompt_tokens", Key::prompt_shape, every},
    Row{"continue_final_message", Key::prompt_shape, every},
};
static_assert(rows.size() <= 64, "a duplicate is found by a bit of a word");

constexpr std::size_t longest = rows.back().name.size();

// first[n]: the first row whose name has at least n characters.
constexpr auto first = [] {
    std::array<std::uint8_t, longest + 2> found{};
    std::size_t row = 0;
    for (std::size_t length = 0; length < found.size(); ++length) {
        while (row < rows.size() && rows[row].name.size() < length)
            ++row;
        found[length] = static_cast<std::uint8_t>(row);
    }
    return found;
}();
static_assert(
    [] {
        for (std::size_t i = 1; i < rows.size(); ++i)
            if (rows[i - 1].name.size() > rows[i].name.size()) return false;
        return true;
    }(),
    "the table is sorted by length");

}  // namespace

std::optional<KnownKey> key_of(std::string_view name, Endpoint endpoint) noexcept {
    if (name.size() > longest) return std::nullopt;
    for (std::size_t i = first[name.size()]; i < first[name.size() + 1]; ++i) {
        if (rows[i].name != name) continue;
        if (!rows[i].endpoints.contains(endpoint)) return std::nullopt;
        return KnownKey{.key = rows[i].key, .name = rows[i].name, .position = static_cast<std::uint8_t>(i)};
    }
    return std::nullopt;
}

}  // namespace weir::gateway
