// ChatRequest: what the simulator reads of a completion's body, chat or text, and the checks that vLLM's schema makes;
// and the smaller requests. Fields it does not know are accepted and ignored, as there. Pure.
#pragma once

#include "sim/api_error.h"

#include <optional>
#include <string>
#include <vector>

namespace weir::sim {

struct ChatRequest {
    std::string model;   // "" = not given
    bool is_text = false;  // POST /v1/completions
    std::string prompt;    // the texts of all messages, one after the other
    int prompt_tokens = 0;
    bool stream = false;
    bool include_usage = false;
    bool continuous_usage = false;
    int n = 1;
    std::optional<int> max_output_tokens{};
    int min_tokens = 0;
    bool ignore_eos = false;
    bool uses_min_p = false;
    bool uses_logit_bias = false;
    std::vector<std::string> stop{};
    std::string request_id{};  // "" = not given
};

[[nodiscard]] Outcome<ChatRequest> parse_chat_request(const std::string& body);
// The body of POST /v1/completions. One prompt: text, or token ids; several are refused.
[[nodiscard]] Outcome<ChatRequest> parse_completion_request(const std::string& body);

// The body of POST /v1/embeddings.
struct EmbeddingRequest {
    std::string model;
    std::vector<std::string> inputs{};  // texts; ids as JSON text
    int prompt_tokens = 0;              // of all inputs
    int dimensions = 32;
    bool as_base64 = false;
};
[[nodiscard]] Outcome<EmbeddingRequest> parse_embedding_request(const std::string& body);

// The body of POST /tokenize: a prompt, or messages.
struct TokenizeRequest {
    std::string model;
    std::string text;
    int extra_tokens = 0;  // of the chat template
};
[[nodiscard]] Outcome<TokenizeRequest> parse_tokenize_request(const std::string& body);

}  // namespace weir::sim
