// Replies: the JSON that vLLM answers with. Pure functions from values to text.
#pragma once

#include "sim/chat_plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::sim {

struct Usage {
    int prompt_tokens = 0;
    int completion_tokens = 0;
};

// What all chunks of one answer have in common.
struct AnswerHead {
    std::string id;  // "chatcmpl-...", "cmpl-...", "embd-..."
    std::string model;
    std::int64_t created = 0;  // seconds since 1970
    bool is_text = false;      // choices have `text`, not `delta` or `message`
};

struct ChunkEnd {
    std::string_view finish_reason;
    std::optional<std::string_view> stop_reason{};  // the stop string, where one ended the text
    std::string_view fingerprint;                   // "" = not in this chunk
};

// One server-sent event each, `data: {...}` and the blank line.
[[nodiscard]] std::string role_event(const AnswerHead& head, int choice, const std::optional<Usage>& usage);
[[nodiscard]] std::string content_event(const AnswerHead& head, int choice, std::string_view text,
                                        const std::optional<Usage>& usage, const std::optional<ChunkEnd>& end);
[[nodiscard]] std::string usage_event(const AnswerHead& head, const Usage& usage);
inline constexpr std::string_view done_event = "data: [DONE]\n\n";

struct AnsweredChoice {
    std::string text;
    std::string_view finish_reason;
    std::optional<std::string_view> stop_reason{};
};
[[nodiscard]] std::string completion(const AnswerHead& head, const std::vector<AnsweredChoice>& choices,
                                     const Usage& usage, std::string_view fingerprint);

// A vector for each input, of unit length; the same text gets the same vector.
[[nodiscard]] std::string embeddings_result(const AnswerHead& head, const EmbeddingRequest& request);

[[nodiscard]] std::string models_list(const ServedModel& served, std::int64_t created);
[[nodiscard]] std::string tokenize_result(const std::vector<std::uint32_t>& ids, int extra_tokens, int context_tokens);

}  // namespace weir::sim
