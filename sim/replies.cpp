#include "sim/replies.h"

#include "base/json_writer.h"

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

struct Delta {
    bool role = false;
    std::string_view text;
};

std::string chunk_event(const AnswerHead& head, int choice, const Delta& delta, const std::optional<Usage>& usage,
                        const std::optional<ChunkEnd>& end) {
    JsonWriter json;
    json.begin_object();
    write_head(json, head, "chat.completion.chunk");
    json.key("choices").begin_array().begin_object();
    json.member("index", choice).key("delta").begin_object();
    if (delta.role) json.member("role", "assistant");
    json.member("content", delta.text).end_object();
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
    write_head(json, head, "chat.completion.chunk");
    json.key("choices").begin_array().end_array();
    write_usage(json, usage);
    json.end_object();
    return as_event(std::move(json));
}

std::string completion(const AnswerHead& head, const std::vector<AnsweredChoice>& choices, const Usage& usage,
                       std::string_view fingerprint) {
    JsonWriter json;
    json.begin_object();
    write_head(json, head, "chat.completion");
    json.key("choices").begin_array();
    for (int index = 0; const auto& choice : choices)
        write_choice(json, index++, choice);
    json.end_array().key("service_tier").null();
    json.member("system_fingerprint", fingerprint);
    write_usage(json, usage);
    for (const auto* const name : {"prompt_logprobs", "prompt_token_ids", "kv_transfer_params"})
        json.key(name).null();
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
