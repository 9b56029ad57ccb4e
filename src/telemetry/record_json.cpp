#include "telemetry/record_json.h"

#include "telemetry/json_line.h"

#include <optional>
#include <string_view>

namespace weir::telemetry {

namespace {

// A member's name with what stands around it, as one piece; the object's first member is written apart.
#define WEIR_MEMBER(name) ",\"" name "\":"

template <std::size_t N>
void text(JsonLine& json, const char (&member)[N], std::string_view value) {
    if (!value.empty()) json.raw(member).string(value);
}

template <std::size_t N, class T>
void number(JsonLine& json, const char (&member)[N], const std::optional<T>& value) {
    if (value) json.raw(member).number(*value);
}

template <std::size_t N>
void milliseconds(JsonLine& json, const char (&member)[N], const std::optional<double>& value) {
    if (value) json.raw(member).milliseconds(*value);
}

void write_identity(JsonLine& json, const model::RequestRecord& record) {
    json.raw("{\"request_id\":").string(record.request_id);
    text(json, WEIR_MEMBER("client_request_id"), record.client_request_id);
    text(json, WEIR_MEMBER("trace_id"), record.trace_id);
    json.raw(WEIR_MEMBER("time")).time(record.time);
    text(json, WEIR_MEMBER("config_version"), record.config_version);
    text(json, WEIR_MEMBER("tenant"), record.caller.tenant);
    text(json, WEIR_MEMBER("team"), record.caller.team);
    text(json, WEIR_MEMBER("application"), record.caller.application);
    text(json, WEIR_MEMBER("key"), record.caller.key);
    text(json, WEIR_MEMBER("workload"), record.caller.workload);
    text(json, WEIR_MEMBER("alias"), record.alias);
    if (record.endpoint) json.raw(WEIR_MEMBER("endpoint")).string(model::name_of(*record.endpoint));
}

void write_features(JsonLine& json, model::FeatureSet features) {
    if (features.empty()) {
        json.raw(WEIR_MEMBER("features") "[]");
        return;
    }
    json.raw(WEIR_MEMBER("features") "[");
    for (const auto feature : model::all_features)
        if (features.contains(feature)) json.item().string(model::name_of(feature));
    json.close(']');
}

void write_wish(JsonLine& json, const model::RequestRecord& record, bool known) {
    if (known && record.stream) json.raw(WEIR_MEMBER("stream") "true");
    if (known && !record.stream) json.raw(WEIR_MEMBER("stream") "false");
    milliseconds(json, WEIR_MEMBER("client_timeout_ms"), record.client_timeout_ms);
    if (!known) return;
    number(json, WEIR_MEMBER("max_tokens"), record.max_tokens);
    write_features(json, record.features);
    text(json, WEIR_MEMBER("temperature_class"), record.temperature_class);
}

void write_decision(JsonLine& json, const model::DecisionRecord& decision) {
    json.raw(WEIR_MEMBER("decision") "{\"eligible\":[");
    for (const auto& pool : decision.eligible)
        json.item().string(pool);
    json.close(']').raw(WEIR_MEMBER("excluded") "{");
    for (const auto& excluded : decision.excluded) {
        json.item().string(excluded.pool).raw(":\"").plain(model::name_of(excluded.reason));
        if (!excluded.parameter.empty()) json.raw(":").inside_string(excluded.parameter);
        json.raw("\"");
    }
    json.close('}');
    text(json, WEIR_MEMBER("chosen_by"), decision.chosen_by);
    number(json, WEIR_MEMBER("score"), decision.score);
    number(json, WEIR_MEMBER("inflight_at_dispatch"), decision.inflight_at_dispatch);
    if (decision.cut) json.raw(WEIR_MEMBER("cut") "true");
    json.close('}');
}

void write_attempts(JsonLine& json, const std::vector<model::AttemptRecord>& attempts) {
    json.raw(WEIR_MEMBER("attempts") "[");
    for (const auto& attempt : attempts) {
        json.item().raw("{\"pool\":").string(attempt.pool);
        text(json, WEIR_MEMBER("replica"), attempt.replica);
        text(json, WEIR_MEMBER("engine_request_id"), attempt.engine_request_id);
        json.raw(WEIR_MEMBER("outcome")).string(model::name_of(attempt.outcome));
        json.raw(WEIR_MEMBER("duration")).milliseconds(attempt.duration_ms);
        number(json, WEIR_MEMBER("prompt_tokens"), attempt.prompt_tokens);
        number(json, WEIR_MEMBER("completion_tokens"), attempt.completion_tokens);
        json.close('}');
    }
    json.close(']');
}

void write_route(JsonLine& json, const model::RequestRecord& record) {
    text(json, WEIR_MEMBER("pool"), record.pool);
    text(json, WEIR_MEMBER("replica"), record.replica);
    text(json, WEIR_MEMBER("region"), record.region);
    text(json, WEIR_MEMBER("engine_version"), record.engine_version);
    text(json, WEIR_MEMBER("assigned_arm"), record.assigned_arm);
    write_decision(json, record.decision);
    write_attempts(json, record.attempts);
}

void write_outcome(JsonLine& json, const model::RequestRecord& record) {
    if (record.status != 0) json.raw(WEIR_MEMBER("status")).number(record.status);
    json.raw(WEIR_MEMBER("outcome")).string(model::name_of(record.outcome));
    if (record.reason) json.raw(WEIR_MEMBER("reason")).string(model::name_of(*record.reason));
    text(json, WEIR_MEMBER("policy_outcome"), record.policy_outcome);
    number(json, WEIR_MEMBER("prompt_bytes"), record.prompt_bytes);
    number(json, WEIR_MEMBER("prompt_tokens"), record.prompt_tokens);
    number(json, WEIR_MEMBER("cached_tokens"), record.cached_tokens);
    number(json, WEIR_MEMBER("completion_tokens"), record.completion_tokens);
    number(json, WEIR_MEMBER("reasoning_tokens"), record.reasoning_tokens);
    number(json, WEIR_MEMBER("delivered_tokens"), record.delivered_tokens);
    json.raw(WEIR_MEMBER("usage_source")).string(model::name_of(record.usage_source));
    text(json, WEIR_MEMBER("finish_reason"), record.finish_reason);
}

void write_speculation(JsonLine& json, const model::SpeculationRecord& speculation) {
    if (speculation.source.empty()) return;
    json.raw(WEIR_MEMBER("spec")).open('{');
    if (speculation.steps) json.item().raw("\"steps\":").number(*speculation.steps);
    if (speculation.drafted) json.item().raw("\"drafted\":").number(*speculation.drafted);
    if (speculation.accepted) json.item().raw("\"accepted\":").number(*speculation.accepted);
    if (speculation.accepted_length) json.item().raw("\"accepted_length\":").number(*speculation.accepted_length);
    json.item().raw("\"source\":").string(speculation.source).close('}');
}

void write_times(JsonLine& json, const model::RequestRecord& record) {
    milliseconds(json, WEIR_MEMBER("queue_ms"), record.queue_ms);
    milliseconds(json, WEIR_MEMBER("ttft_ms"), record.ttft_ms);
    milliseconds(json, WEIR_MEMBER("upstream_ttft_ms"), record.upstream_ttft_ms);
    milliseconds(json, WEIR_MEMBER("first_visible_ms"), record.first_visible_ms);
    milliseconds(json, WEIR_MEMBER("tpot_ms"), record.tpot_ms);
    json.raw(WEIR_MEMBER("duration_ms")).milliseconds(record.duration_ms);
    milliseconds(json, WEIR_MEMBER("gateway_ms"), record.gateway_ms);
    number(json, WEIR_MEMBER("events"), record.events);
    write_speculation(json, record.spec);
}

#undef WEIR_MEMBER

}  // namespace

void append_milliseconds(std::string& out, double value) {
    JsonLine json{out};
    json.milliseconds(value);
    json.finish();
}

void append_json(std::string& out, const model::RequestRecord& record) {
    JsonLine json{out};
    const bool known = record.outcome != model::Outcome::interrupted;
    write_identity(json, record);
    write_wish(json, record, known);
    if (known) write_route(json, record);
    write_outcome(json, record);
    if (known) write_times(json, record);
    json.close('}');
    json.finish();
}

std::string to_json(const model::RequestRecord& record) {
    std::string out;
    append_json(out, record);
    return out;
}

}  // namespace weir::telemetry
