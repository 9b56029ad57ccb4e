// A valid record with every field set, for tables that state only the difference. Only tests include this.
#pragma once

#include "model/record.h"

#include <chrono>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace weir::telemetry::test {

// Owns a text for a record's view, until the test program ends. Any thread.
inline std::string_view kept(std::string text) {
    static std::mutex mutex;
    static std::deque<std::string> texts;
    const std::scoped_lock lock{mutex};
    return texts.emplace_back(std::move(text));
}

inline model::RequestRecord full_record() {
    model::RequestRecord record;
    record.request_id = "req-0000000000000000001";
    record.client_request_id = "client \"1\"";
    record.trace_id = "0af7651916cd43dd8448eb211c80319c";
    record.time = base::WallTime{std::chrono::milliseconds{1'796'000'000'123}};
    record.config_version = "c0ffee";
    record.caller = {.tenant = "acme",
                     .team = "search",
                     .application = "autocomplete",
                     .workload = "code",
                     .key = "acme-1",
                     .permissions = {}};
    record.alias = "chat-large";
    record.endpoint = model::Endpoint::chat_completions;
    record.stream = true;
    record.client_timeout_ms = 600'000;
    record.max_tokens = 256;
    record.features.add(model::Feature::tools);
    record.features.add(model::Feature::logprobs);
    record.temperature_class = "greedy";
    record.pool = "main";
    record.replica = "http://10.0.0.1:8000";
    record.region = "eu-west";
    record.engine_version = "0.22.0";
    record.assigned_arm = "baseline";
    record.decision = {
        .eligible = {"main", "spare"},
        .excluded = {{.pool = "far", .reason = model::Ineligible::region_forbidden, .parameter = ""},
                     {.pool = "small", .reason = model::Ineligible::parameter_unsupported, .parameter = "min_p"}},
        .chosen_by = "power_of_two",
        .score = 0.5,
        .inflight_at_dispatch = 3};
    record.attempts = {{.pool = "spare",
                        .replica = "http://10.0.0.2:8000",
                        .engine_request_id = "req-0000000000000000001-1",
                        .outcome = model::AttemptOutcome::connect_failed,
                        .duration_ms = 1.5,
                        .prompt_tokens = {},
                        .completion_tokens = {}},
                       {.pool = "main",
                        .replica = "http://10.0.0.1:8000",
                        .engine_request_id = "req-0000000000000000001-2",
                        .outcome = model::AttemptOutcome::ok,
                        .duration_ms = 812.25,
                        .prompt_tokens = 100,
                        .completion_tokens = 41}};
    record.status = 200;
    record.outcome = model::Outcome::ok;
    record.policy_outcome = "allowed";
    record.prompt_bytes = 2048;
    record.prompt_tokens = 100;
    record.cached_tokens = 64;
    record.completion_tokens = 41;
    record.reasoning_tokens = 7;
    record.delivered_tokens = 40;
    record.usage_source = model::UsageSource::engine;
    record.finish_reason = "stop";
    record.queue_ms = 0;
    record.ttft_ms = 93;
    record.upstream_ttft_ms = 88.5;
    record.first_visible_ms = 120;
    record.tpot_ms = 20.125;
    record.duration_ms = 905;
    record.gateway_ms = 0.4;
    record.events = 38;
    record.spec = {.steps = 20, .drafted = 60, .accepted = 21, .accepted_length = 2.05, .source = "engine"};
    return record;
}

// What a request that was turned down at once leaves: most things are not known.
inline model::RequestRecord sparse_record() {
    model::RequestRecord record;
    record.request_id = "req-0000000000000000002";
    record.time = base::WallTime{std::chrono::milliseconds{1'796'000'000'000}};
    record.caller.tenant = "acme";
    record.caller.key = "acme-1";
    record.status = 404;
    record.outcome = model::Outcome::refused;
    record.reason = model::Reason::model_not_found;
    record.duration_ms = 0.25;
    return record;
}

}  // namespace weir::telemetry::test
