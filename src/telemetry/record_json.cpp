#include "telemetry/record_json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace weir::telemetry {

namespace {

using base::JsonWriter;

void text(JsonWriter& json, std::string_view name, std::string_view value) {
    if (!value.empty()) json.member(name, value);
}

template <class T>
void number(JsonWriter& json, std::string_view name, const std::optional<T>& value) {
    if (value) json.member(name, *value);
}

void milliseconds(JsonWriter& json, std::string_view name, const std::optional<double>& value) {
    if (value) write_milliseconds(json.key(name), *value);
}

void write_identity(JsonWriter& json, const model::RequestRecord& record) {
    text(json, "request_id", record.request_id);
    text(json, "client_request_id", record.client_request_id);
    text(json, "trace_id", record.trace_id);
    json.member("time", std::string_view{base::to_rfc3339(record.time)});
    text(json, "config_version", record.config_version);
    text(json, "tenant", record.caller.tenant);
    text(json, "team", record.caller.team);
    text(json, "application", record.caller.application);
    text(json, "key", record.caller.key);
    text(json, "workload", record.caller.workload);
    text(json, "alias", record.alias);
    if (record.endpoint) json.member("endpoint", model::name_of(*record.endpoint));
    json.member("stream", record.stream);
    milliseconds(json, "client_timeout_ms", record.client_timeout_ms);
    number(json, "max_tokens", record.max_tokens);
    json.key("features");
    write_features(json, record);
    text(json, "temperature_class", record.temperature_class);
}

void write_route(JsonWriter& json, const model::RequestRecord& record) {
    text(json, "pool", record.pool);
    text(json, "replica", record.replica);
    text(json, "region", record.region);
    text(json, "engine_version", record.engine_version);
    text(json, "assigned_arm", record.assigned_arm);
    json.key("decision");
    write_decision(json, record.decision);
    json.key("attempts");
    write_attempts(json, record);
}

void write_result(JsonWriter& json, const model::RequestRecord& record) {
    json.member("status", record.status);
    json.member("outcome", model::name_of(record.outcome));
    if (record.reason) json.member("reason", model::name_of(*record.reason));
    text(json, "policy_outcome", record.policy_outcome);
    number(json, "prompt_bytes", record.prompt_bytes);
    number(json, "prompt_tokens", record.prompt_tokens);
    number(json, "cached_tokens", record.cached_tokens);
    number(json, "completion_tokens", record.completion_tokens);
    number(json, "reasoning_tokens", record.reasoning_tokens);
    number(json, "delivered_tokens", record.delivered_tokens);
    json.member("usage_source", model::name_of(record.usage_source));
    text(json, "finish_reason", record.finish_reason);
    milliseconds(json, "queue_ms", record.queue_ms);
    milliseconds(json, "ttft_ms", record.ttft_ms);
    milliseconds(json, "upstream_ttft_ms", record.upstream_ttft_ms);
    milliseconds(json, "first_visible_ms", record.first_visible_ms);
    milliseconds(json, "tpot_ms", record.tpot_ms);
    milliseconds(json, "duration_ms", record.duration_ms);
    milliseconds(json, "gateway_ms", record.gateway_ms);
    number(json, "events", record.events);
    if (record.spec.source.empty()) return;
    json.key("spec");
    write_speculation(json, record.spec);
}

}  // namespace

// By hand, because a record has ten of them and the exact conversion of a double is ten times dearer.
void write_milliseconds(JsonWriter& json, double value) {
    constexpr double largest = 1e12;  // thirty years
    if (!(std::abs(value) < largest)) {
        json.null();
        return;
    }
    const auto thousandths = std::llround(value * 1000);
    std::array<char, 32> text;
    auto* at = text.data();
    if (thousandths < 0) *at++ = '-';
    const auto positive = std::abs(thousandths);
    at = std::to_chars(at, text.data() + text.size(), positive / 1000).ptr;
    *at++ = '.';
    for (const int unit : {100, 10, 1})
        *at++ = static_cast<char>('0' + positive / unit % 10);
    json.raw({text.data(), at});
}

void write_features(JsonWriter& json, const model::RequestRecord& record) {
    json.begin_array();
    for (const auto feature : model::all_features)
        if (record.features.contains(feature)) json.string(model::name_of(feature));
    json.end_array();
}

void write_decision(JsonWriter& json, const model::DecisionRecord& decision) {
    json.begin_object().key("eligible").begin_array();
    for (const auto& pool : decision.eligible)
        json.string(pool);
    json.end_array().key("excluded").begin_object();
    for (const auto& excluded : decision.excluded) {
        std::string reason{model::name_of(excluded.reason)};
        if (!excluded.parameter.empty()) reason += ":" + excluded.parameter;
        json.member(excluded.pool, std::string_view{reason});
    }
    json.end_object();
    text(json, "chosen_by", decision.chosen_by);
    number(json, "score", decision.score);
    number(json, "inflight_at_dispatch", decision.inflight_at_dispatch);
    json.end_object();
}

void write_attempts(JsonWriter& json, const model::RequestRecord& record) {
    json.begin_array();
    for (const auto& attempt : record.attempts) {
        json.begin_object();
        text(json, "pool", attempt.pool);
        text(json, "replica", attempt.replica);
        text(json, "engine_request_id", attempt.engine_request_id);
        json.member("outcome", model::name_of(attempt.outcome));
        write_milliseconds(json.key("duration"), attempt.duration_ms);
        number(json, "prompt_tokens", attempt.prompt_tokens);
        number(json, "completion_tokens", attempt.completion_tokens);
        json.end_object();
    }
    json.end_array();
}

void write_speculation(JsonWriter& json, const model::SpeculationRecord& speculation) {
    json.begin_object();
    number(json, "steps", speculation.steps);
    number(json, "drafted", speculation.drafted);
    number(json, "accepted", speculation.accepted);
    number(json, "accepted_length", speculation.accepted_length);
    text(json, "source", speculation.source);
    json.end_object();
}

void write_record(JsonWriter& json, const model::RequestRecord& record) {
    json.begin_object();
    write_identity(json, record);
    write_route(json, record);
    write_result(json, record);
    json.end_object();
}

std::string to_json(const model::RequestRecord& record) {
    JsonWriter json;
    write_record(json, record);
    return std::move(json).take();
}

}  // namespace weir::telemetry
