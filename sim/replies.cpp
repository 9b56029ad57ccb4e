#include "sim/replies.h"

#include "base/json_writer.h"
#include "sim/tokenizer.h"

#include <bit>
#include <cmath>
#include <utility>

namespace weir::sim {
namespace {

using base::JsonWriter;

void write_usage(JsonWriter& json, const Usage& usage) {
    json.key("usage").begin_object();
    json.member("prompt_tokens", usage.prompt_tokens);
    json.member("total_tokens", usage.prompt_tokens + usage.completion_tokens);
    json.member("completion_tokens", usage.completion_tokens);
    json.key("prompt_tokens_details").null();
    json.end_object();
}

void write_head(JsonWriter& json, const AnswerHead& head, std::string_view object) {
    json.member("id", head.id).member("object", object).member("created", head.created).member("model", head.model);
}

void write_reason(JsonWriter& json, std::string_view finish_reason,
                  const std::optional<std::string_view>& stop_reason) {
    json.member("finish_reason", finish_reason).key("stop_reason");
    if (stop_reason)
        json.string(*stop_reason);
    else
        json.null();
}

std::string as_event(JsonWriter json) {
    std::string event = "data: ";
    event += json.text();
    event += "\n\n";
    return event;
}

std::string_view chunk_object(const AnswerHead& head) {
    return head.is_text ? "text_completion" : "chat.completion.chunk";
}

struct Delta {
    bool role = false;
    std::string_view text;
};

std::string chunk_event(const AnswerHead& head, int choice, const Delta& delta, const std::optional<Usage>& usage,
                        const std::optional<ChunkEnd>& end) {
    JsonWriter json;
    json.begin_object();
    write_head(json, head, chunk_object(head));
    json.key("choices").begin_array().begin_object();
    json.member("index", choice);
    if (head.is_text) {
        json.member("text", delta.text);
    } else {
        json.key("delta").begin_object();
        if (delta.role) json.member("role", "assistant");
        json.member("content", delta.text).end_object();
    }
    json.key("logprobs").null();
    if (end)
        write_reason(json, end->finish_reason, end->stop_reason);
    else
        json.key("finish_reason").null();
    json.key("token_ids").null().end_object().end_array();
    if (end && !end->fingerprint.empty()) json.member("system_fingerprint", end->fingerprint);
    if (usage) write_usage(json, *usage);
    json.end_object();
    return as_event(std::move(json));
}

void write_choice(JsonWriter& json, int index, const AnsweredChoice& choice) {
    json.begin_object().member("index", index);
    json.key("message").begin_object().member("role", "assistant").member("content", choice.text);
    for (const auto* const name : {"refusal", "annotations", "audio", "function_call"})
        json.key(name).null();
    json.key("tool_calls").begin_array().end_array().key("reasoning").null().end_object();
    json.key("logprobs").null();
    write_reason(json, choice.finish_reason, choice.stop_reason);
    json.key("token_ids").null().end_object();
}

void write_text_choice(JsonWriter& json, int index, const AnsweredChoice& choice) {
    json.begin_object().member("index", index).member("text", choice.text);
    json.key("logprobs").null();
    write_reason(json, choice.finish_reason, choice.stop_reason);
    json.key("token_ids").null().key("prompt_logprobs").null().end_object();
}

std::vector<float> vector_of(std::string_view text, int dimensions) {
    std::vector<double> wide;
    double square = 0;
    const std::uint64_t seed = hash_text(text);
    for (int i = 0; i < dimensions; ++i) {
        const auto bits = mix(seed ^ static_cast<std::uint64_t>(i));
        const double value = static_cast<double>(bits >> 11U) / static_cast<double>(1ULL << 52U) - 1.0;
        square += value * value;
        wide.push_back(value);
    }
    std::vector<float> vector;
    for (const double value : wide)
        vector.push_back(static_cast<float>(value / std::sqrt(square)));
    return vector;
}

// RFC 4648 section 4, of the floats' little-endian bytes.
std::string to_base64(const std::vector<float>& vector) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    for (const float value : vector)
        for (unsigned shift = 0; shift < 32; shift += 8)
            bytes += static_cast<char>(std::bit_cast<std::uint32_t>(value) >> shift & 0xFFU);
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const auto byte = [&](std::size_t i) -> std::uint32_t {
            return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U;
        };
        const std::uint32_t group = byte(0) << 16U | byte(1) << 8U | byte(2);
        for (unsigned i = 0; i < 4; ++i)
            text += at + i > bytes.size() ? '=' : digits[group >> (18 - 6 * i) & 63U];
    }
    return text;
}

}  // namespace

std::string role_event(const AnswerHead& head, int choice, const std::optional<Usage>& usage) {
    return chunk_event(head, choice, {.role = true, .text = {}}, usage, std::nullopt);
}

std::string content_event(const AnswerHead& head, int choice, std::string_view text, const std::optional<Usage>& usage,
                          const std::optional<ChunkEnd>& end) {
    return chunk_event(head, choice, {.text = text}, usage, end);
}

std::string usage_event(const AnswerHead& head, const Usage& usage) {
    JsonWriter json;
    json.begin_object();
    write_head(json, head, chunk_object(head));
    json.key("choices").begin_array().end_array();
    write_usage(json, usage);
    json.end_object();
    return as_event(std::move(json));
}

std::string completion(const AnswerHead& head, const std::vector<AnsweredChoice>& choices, const Usage& usage,
                       std::string_view fingerprint) {
    JsonWriter json;
    json.begin_object();
    write_head(json, head, head.is_text ? "text_completion" : "chat.completion");
    json.key("choices").begin_array();
    for (int index = 0; const auto& choice : choices) {
        if (head.is_text)
            write_text_choice(json, index++, choice);
        else
            write_choice(json, index++, choice);
    }
    json.end_array().key("service_tier").null();
    json.member("system_fingerprint", fingerprint);
    write_usage(json, usage);
    for (const auto* const name : {"prompt_logprobs", "prompt_token_ids", "kv_transfer_params"})
        json.key(name).null();
    json.end_object();
    return std::move(json).take();
}

std::string embeddings_result(const AnswerHead& head, const EmbeddingRequest& request) {
    JsonWriter json;
    json.begin_object();
    write_head(json, head, "list");
    json.key("data").begin_array();
    for (int index = 0; const auto& input : request.inputs) {
        const auto vector = vector_of(input, request.dimensions);
        json.begin_object().member("index", index++).member("object", "embedding").key("embedding");
        if (request.as_base64) {
            json.string(to_base64(vector));
        } else {
            json.begin_array();
            for (const float value : vector)
                json.number(static_cast<double>(value));
            json.end_array();
        }
        json.end_object();
    }
    json.end_array();
    write_usage(json, {.prompt_tokens = request.prompt_tokens});
    json.end_object();
    return std::move(json).take();
}

std::string models_list(const ServedModel& served, std::int64_t created) {
    JsonWriter json;
    json.begin_object().member("object", "list").key("data").begin_array().begin_object();
    json.member("id", served.name).member("object", "model").member("created", created);
    json.member("owned_by", "weir-sim").member("root", served.name).key("parent").null();
    json.member("max_model_len", served.context_tokens).key("permission").begin_array().end_array();
    json.end_object().end_array().end_object();
    return std::move(json).take();
}

std::string tokenize_result(const std::vector<std::uint32_t>& ids, int extra_tokens, int context_tokens) {
    JsonWriter json;
    json.begin_object();
    json.member("count", static_cast<std::int64_t>(ids.size()) + extra_tokens).member("max_model_len", context_tokens);
    json.key("tokens").begin_array();
    for (int i = 0; i < extra_tokens; ++i)
        json.number(i);
    for (const auto id : ids)
        json.number(id);
    json.end_array().key("token_strs").null().end_object();
    return std::move(json).take();
}

}  // namespace weir::sim
