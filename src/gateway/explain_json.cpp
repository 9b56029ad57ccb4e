// The JSON form of an explanation, as docs/explain.md describes it.
#include "base/json_writer.h"
#include "base/text.h"
#include "gateway/explain.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weir::gateway {

namespace {

using base::JsonWriter;

void text_or_null(JsonWriter& json, std::string_view name, std::string_view text) {
    json.key(name);
    if (text.empty())
        json.null();
    else
        json.string(text);
}

// No client's text makes the answer long.
std::string_view beginning_of(std::string_view text) {
    constexpr std::size_t most_bytes = 256;
    return text.substr(0, base::valid_utf8_prefix(text.substr(0, most_bytes)));
}

void write_caller(JsonWriter& json, const model::Caller& caller) {
    constexpr std::array permissions{
        std::pair{model::Permission::debug, "debug"}, std::pair{model::Permission::priority, "priority"},
        std::pair{model::Permission::workload, "workload"}, std::pair{model::Permission::cohort, "cohort"}};
    json.begin_object();
    json.member("tenant", caller.tenant).member("key", caller.key);
    text_or_null(json, "team", caller.team);
    text_or_null(json, "application", caller.application);
    text_or_null(json, "workload", caller.workload);
    json.key("permissions").begin_array();
    for (const auto& [permission, name] : permissions)
        if (caller.permissions.contains(permission)) json.string(name);
    json.end_array().end_object();
}

void write_request(JsonWriter& json, const Explanation& explanation) {
    json.begin_object().member("endpoint", model::name_of(explanation.endpoint));
    json.member("prompt_bytes", explanation.body_bytes);
    if (const auto& inspected = explanation.inspected) {
        json.member("model", beginning_of(inspected->model)).member("stream", inspected->stream);
        json.key("features").begin_array();
        for (const auto feature : model::all_features)
            if (inspected->features.contains(feature)) json.string(model::name_of(feature));
        json.end_array();
        if (inspected->max_tokens) json.member("max_tokens", *inspected->max_tokens);
    }
    json.end_object();
}

void write_refusal(JsonWriter& json, const Refusal& refusal, std::string_view advice) {
    json.begin_object().member("status", refusal.status_to_send());
    json.member("reason", model::name_of(refusal.reason)).member("message", std::string_view{refusal.message});
    text_or_null(json, "param", refusal.param);
    text_or_null(json, "advice", advice);
    json.end_object();
}

void write_choice(JsonWriter& json, const Explanation& explanation) {
    const auto& choice = *explanation.choice;
    json.begin_object().member("chosen_by", explanation.decision.chosen_by);
    json.member("order", choice.order).member("over_limit", choice.over_limit);
    json.key("arms").begin_object().member("baseline", choice.baseline_share);
    json.member("candidate", std::max(0.0, 1 - choice.baseline_share)).end_object();
    json.member("why", std::string_view{choice.why}).end_object();
}

// As in the record of a request.
void write_decision(JsonWriter& json, const model::DecisionRecord& decision) {
    json.begin_object().key("eligible").begin_array();
    for (const auto& pool : decision.eligible)
        json.string(pool);
    json.end_array().key("excluded").begin_object();
    for (const auto& excluded : decision.excluded)
        json.member(excluded.pool, std::string_view{model::text_of(excluded.reason, excluded.parameter)});
    json.end_object();
    if (!decision.chosen_by.empty()) json.member("chosen_by", decision.chosen_by);
    if (decision.score) json.member("score", *decision.score);
    json.end_object();
}

void write_pool(JsonWriter& json, const ExplainedPool& pool) {
    json.begin_object().member("pool", std::string_view{pool.pool}).member("arm", pool.arm);
    json.member("order", pool.order).member("eligible", pool.reason.empty());
    text_or_null(json, "reason", pool.reason);
    text_or_null(json, "advice", pool.advice);
    json.member("share", pool.share).key("replicas").begin_array();
    for (const auto& replica : pool.replicas) {
        json.begin_object().member("url", std::string_view{replica.url}).member("state", replica.state);
        json.member("usable", replica.usable).member("in_flight", replica.in_flight).key("limit");
        if (replica.limit == 0)
            json.null();
        else
            json.number(replica.limit);
        json.member("share", replica.share).end_object();
    }
    json.end_array().end_object();
}

}  // namespace

std::string to_json(const Explanation& explanation) {
    JsonWriter json;
    json.begin_object().member("outcome", explanation.served() ? "served" : "refused");
    json.member("signals", explanation.live ? "live" : "none");
    json.member("config_version", explanation.config_version).key("caller");
    if (explanation.caller)
        write_caller(json, *explanation.caller);
    else
        json.null();
    write_request(json.key("request"), explanation);
    text_or_null(json, "alias", explanation.alias);
    text_or_null(json, "policy_outcome", explanation.policy_outcome);
    json.key("refusal");
    if (explanation.refusal)
        write_refusal(json, *explanation.refusal, explanation.advice);
    else
        json.null();
    json.key("choice");
    if (explanation.choice)
        write_choice(json, explanation);
    else
        json.null();
    write_decision(json.key("decision"), explanation.decision);
    json.key("pools").begin_array();
    for (const auto& pool : explanation.pools)
        write_pool(json, pool);
    json.end_array().key("notes").begin_array();
    for (const auto& note : explanation.notes)
        json.string(note);
    json.end_array().end_object();
    return std::move(json).take();
}

}  // namespace weir::gateway
