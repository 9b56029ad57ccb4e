// PromptSize: what the value of `prompt` or `input` says of its size without a tokenizer. Internal to inspect; pure.
// A prompt is a string, an array of token ids, or an array of several of these. A token is never less than one byte of
// JSON text, so bytes bound tokens from above; an array of ids has exactly as many tokens as elements.
#pragma once

#include <simdjson.h>

#include <cstdint>

namespace weir::gateway {

struct PromptSize {
    std::uint64_t prompts = 0;
    std::uint64_t text_bytes = 0;  // of the largest prompt with text, as JSON
    std::uint64_t token_ids = 0;   // of the largest prompt of ids alone
    bool media = false;            // objects (images and the like) are among them
};

// INCORRECT_TYPE: neither of the shapes above. Other errors: broken JSON.
[[nodiscard]] simdjson::error_code measure_prompt(simdjson::ondemand::value value, PromptSize& size);

}  // namespace weir::gateway
