#include "gateway/request.h"

#include "auth/presented_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace weir::gateway {

using model::Outcome;
using model::Reason;

namespace {

constexpr std::size_t max_client_id_bytes = 128;

Refusal body_refusal(const http::BodyError& error) {
    Reason reason = Reason::invalid_http;
    switch (error.fault) {
        case http::Fault::malformed:
        case http::Fault::client_closed:
        case http::Fault::unsupported_version: break;
        case http::Fault::head_too_large: reason = Reason::header_too_large; break;
        case http::Fault::body_too_large: reason = Reason::request_too_large; break;
        case http::Fault::slow: reason = Reason::request_timeout; break;
    }
    return {.reason = reason, .message = error.message};
}

// The hint of the OpenAI SDKs: seconds the client will wait. Nonsense is no hint.
std::optional<base::Nanoseconds> timeout_hint(const http::FieldTable& fields) {
    const auto text = fields.find("x-stainless-timeout");
    if (!text) return std::nullopt;
    double seconds = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
    if (error != std::errc{} || end != text->data() + text->size() || !(seconds > 0) || seconds > 86400) return std::nullopt;
    return base::Nanoseconds{static_cast<std::int64_t>(seconds * 1e9)};
}

std::string_view media_type_of(std::string_view value) {
    value = value.substr(0, value.find(';'));
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    return value;
}

bool equal_without_case(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view text_of(TemperatureClass temperature) {
    switch (temperature) {
        case TemperatureClass::unknown: return "";
        case TemperatureClass::greedy: return "greedy";
        case TemperatureClass::sampled: return "sampled";
    }
    return "";
}

// Whether another replica could do better. A request that an engine turned down, and one whose time is over, is not repeated.
bool another_may_help(const AttemptResult& result) {
    switch (result.outcome) {
        case model::AttemptOutcome::ok:
        case model::AttemptOutcome::rejected:
        case model::AttemptOutcome::client_closed: return false;
        case model::AttemptOutcome::timeout: return result.refusal->reason == Reason::upstream_error;  // while connecting
        case model::AttemptOutcome::saturated:
        case model::AttemptOutcome::connect_failed:
        case model::AttemptOutcome::reset:
        case model::AttemptOutcome::failed:
        case model::AttemptOutcome::protocol:
        case model::AttemptOutcome::truncated:
        case model::AttemptOutcome::stale_connection: return true;
    }
    return false;
}

std::string refusal_message(const routing::Refusal& refusal, const Alias& alias) {
    const auto& name = alias.config->name;
    switch (refusal.reason) {
        case Reason::unsupported_parameter: return fmt::format("No pool of '{}' can honour '{}'; leave it out or use another model.", name, refusal.parameter);
        case Reason::context_length_exceeded:
            return alias.config->context_tokens
                       ? fmt::format("The prompt and the requested output do not fit the {} tokens of '{}'; ask for fewer.", *alias.config->context_tokens, name)
                       : fmt::format("The prompt and the requested output do not fit any pool of '{}'; ask for fewer tokens.", name);
        case Reason::region_not_allowed: return fmt::format("No pool of '{}' stands in a region that your tenant allows.", name);
        case Reason::data_policy_not_allowed: return fmt::format("No pool of '{}' meets the data policies that your tenant requires.", name);
        case Reason::pools_unhealthy: return fmt::format("No replica of '{}' is healthy at the moment; try again shortly.", name);
        case Reason::endpoint_not_supported: return fmt::format("No pool of '{}' serves this endpoint.", name);
        default: return fmt::format("No pool of '{}' can serve this request at the moment.", name);
    }
}

}  // namespace

Request::Request(Services& services, http::RequestSource& source, http::ResponseSink& sink)
    : services_{services}, source_{source}, sink_{sink}, snapshot_{services.snapshot}, id_{services.random.text(request_id_length)} {}

io::Task<void> Request::run() {
    entry_ = authenticate();
    if (entry_ == nullptr) {
        co_await refuse_unauthenticated();
        co_return;
    }
    Settlement settlement{services_, source_.last_byte_at()};
    co_await serve(settlement);
}

const auth::Entry* Request::authenticate() const {
    const auto& fields = source_.head().fields;
    // Two of a kind are not a choice that we make for the caller.
    if (fields.count("authorization") > 1 || fields.count("x-api-key") > 1) return nullptr;
    const auto secret = auth::presented_key({.authorization = fields.find("authorization"), .x_api_key = fields.find("x-api-key")});
    return snapshot_->keys.authenticate(secret.value_or(""), base::wall_now());
}

io::Task<void> Request::refuse_unauthenticated() {
    services_.metrics.reject(Reason::invalid_api_key);
    const Refusal refusal{.reason = Reason::invalid_api_key, .message = "The API key is missing or not valid. Send it as 'Authorization: Bearer KEY'."};
    const RefusalFields fields{refusal, id_};
    const std::string body = error_body(refusal);
    const auto sent = co_await sink_.send(refusal.status_to_send(), fields.all(), body);
    static_cast<void>(sent);
}

void Request::keep_of_head(Settlement& settlement) {
    const auto& fields = source_.head().fields;
    auto& record = settlement.record;
    record.request_id = id_;
    record.config_version = snapshot_->config.version_hash;
    record.caller = entry_->caller;
    if (const auto id = fields.find("x-request-id")) record.client_request_id = id->substr(0, max_client_id_bytes);
    forwarded_ = forwarded_fields(fields);
    if (forwarded_.trace) record.trace_id = forwarded_.trace->trace_id;
    client_timeout_ = timeout_hint(fields);
    if (client_timeout_) record.client_timeout_ms = base::to_ms(*client_timeout_);
}

io::Task<void> Request::serve(Settlement& settlement) {
    // Until a stage says otherwise: what is not settled is a fault of ours.
    settlement.refused({.reason = Reason::internal_error, .message = ""});
    keep_of_head(settlement);
    if (services_.draining) {
        sink_.close_after();
        co_return co_await refuse(settlement, {.reason = Reason::draining, .message = "This gateway is shutting down; send the request again."});
    }
    auto operation = route(source_.head());
    if (!operation) co_return co_await refuse(settlement, std::move(operation).error());
    if (const auto* generate_operation = std::get_if<Generate>(&*operation))
        co_return co_await generate(settlement, generate_operation->endpoint);
    co_await list_models(settlement, *operation);
}

io::Task<void> Request::list_models(Settlement& settlement, const Operation& operation) {
    const auto& tenant = *snapshot_->tenants[entry_->tenant].config;
    std::vector<ModelCard> cards;
    for (const auto& alias : snapshot_->config.aliases)
        if (tenant.may_use(alias.name)) cards.push_back({alias.name, alias.context_tokens});
    std::string body;
    if (const auto* wanted = std::get_if<ShowModel>(&operation)) {
        const auto* alias = snapshot_->config.aliases.find(wanted->id);
        if (alias == nullptr || !tenant.may_use(alias->name))
            co_return co_await refuse(settlement, {.reason = Reason::model_not_found,
                                                   .message = "There is no such model for your key; see GET /v1/models.", .param = "model"});
        body = model_json({wanted->id, alias->context_tokens});
    } else {
        body = model_list_json(cards);
    }
    const std::array<http::Field, 2> fields{{{"content-type", "application/json"}, {"x-request-id", id_}}};
    const auto sent = co_await sink_.send(200, fields, body);
    if (!sent) co_return settlement.client_closed(0);
    settlement.served(200);
}

Request::Stage<void> Request::check_media_type() const {
    const auto type = source_.head().fields.find("content-type");
    if (!type || equal_without_case(media_type_of(*type), "application/json")) return {};
    return std::unexpected{Refusal{.reason = Reason::unsupported_media_type, .message = "The body must be JSON: send 'Content-Type: application/json'."}};
}

io::Task<void> Request::generate(Settlement& settlement, model::Endpoint endpoint) {
    auto& record = settlement.record;
    record.endpoint = endpoint;
    auto media_type = check_media_type();
    if (!media_type) co_return co_await refuse(settlement, std::move(media_type).error());
    auto body = co_await source_.read_body();
    if (!body) {
        if (body.error().fault == http::Fault::client_closed && source_.client_gone().fired()) co_return settlement.client_closed(0);
        sink_.close_after();
        co_return co_await refuse(settlement, body_refusal(body.error()));
    }
    body_ = *std::move(body);
    settlement.moments.last_request_byte = source_.last_byte_at();
    record.prompt_bytes = body_.size();
    auto inspected = services_.inspector.inspect(body_);
    if (!inspected) {
        auto& error = inspected.error();
        co_return co_await refuse(settlement, {.reason = error.reason, .message = std::move(error.message), .param = std::move(error.param)});
    }
    record.stream = inspected->stream;
    record.features = inspected->features;
    record.max_tokens = inspected->max_tokens;
    record.temperature_class = text_of(inspected->temperature);
    auto alias = resolve(settlement, *inspected, endpoint);
    if (!alias) co_return co_await refuse(settlement, std::move(alias).error());
    auto eligibility = judge(settlement, **alias, *inspected, endpoint, body_.size());
    if (!eligibility) co_return co_await refuse(settlement, std::move(eligibility).error());
    co_await dispatch(settlement, **alias, *inspected, *eligibility);
}

Request::Stage<const Alias*> Request::resolve(Settlement& settlement, const Inspected& inspected, model::Endpoint endpoint) const {
    const Alias* alias = snapshot_->find_alias(inspected.model);
    // An alias the caller may not use looks like one that does not exist.
    if (alias == nullptr || !snapshot_->tenants[entry_->tenant].config->may_use(alias->config->name))
        return std::unexpected{Refusal{.reason = Reason::model_not_found,
                                       .message = "There is no such model for your key; see GET /v1/models.", .param = "model"}};
    settlement.record.alias = alias->config->name;
    if (!alias->config->endpoints.contains(endpoint))
        return std::unexpected{Refusal{.reason = Reason::endpoint_not_supported,
                                       .message = fmt::format("'{}' does not offer {}.", alias->config->name, model::path_of(endpoint)), .param = "model"}};
    if (inspected.stream && !alias->config->streaming)
        return std::unexpected{Refusal{.reason = Reason::unsupported_parameter,
                                       .message = fmt::format("'{}' does not stream; leave 'stream' out.", alias->config->name), .param = "stream"}};
    return alias;
}

Request::Stage<routing::Eligibility> Request::judge(Settlement& settlement, const Alias& alias, const Inspected& inspected, model::Endpoint endpoint,
                                                    std::size_t body_bytes) const {
    routing::RequestFacts facts{.endpoint = endpoint, .stream = inspected.stream, .features = inspected.features,
                                .prompt_tokens_at_least = 1, .prompt_tokens_at_most = std::nullopt, .max_tokens = inspected.max_tokens};
    if (!inspected.features.contains(model::Feature::media)) facts.prompt_tokens_at_most = body_bytes;
    std::vector<routing::AliasPool> pools;
    pools.reserve(alias.members.size());
    for (const auto& member : alias.members) {
        const auto& pool = snapshot_->pools[member.pool];
        pools.push_back({.pool = member.pool, .facts = &pool.facts, .state = {.any_replica_usable = pool.any_replica_usable()},
                         .baseline = member.baseline, .admitted = member.admitted});
    }
    auto eligibility = routing::judge(pools, facts, alias.contract, snapshot_->tenants[entry_->tenant].policy);
    auto& record = settlement.record;
    for (const auto& verdict : eligibility.verdicts) {
        const auto& name = snapshot_->pools[verdict.pool].config->name;
        if (verdict.eligible()) record.decision.eligible.push_back(name);
        else record.decision.excluded.push_back({.pool = name, .reason = *verdict.reason, .parameter = std::string{verdict.parameter}});
    }
    if (eligibility.any()) {
        record.policy_outcome = "allowed";
        return eligibility;
    }
    const auto refusal = routing::refusal_of(eligibility);
    const bool policy = refusal.reason == Reason::region_not_allowed || refusal.reason == Reason::data_policy_not_allowed;
    record.policy_outcome = policy ? model::name_of(refusal.reason) : "allowed";
    return std::unexpected{Refusal{.reason = refusal.reason, .message = refusal_message(refusal, alias), .param = std::string{refusal.parameter}}};
}

std::optional<routing::Choice> Request::choose(const Alias& alias, const routing::Eligibility& eligibility) {
    std::vector<routing::ReplicaCandidate> candidates;
    for (std::size_t i = 0; i < alias.members.size(); ++i) {
        if (!eligibility.verdicts[i].eligible()) continue;
        const auto& member = alias.members[i];
        const auto& pool = snapshot_->pools[member.pool];
        for (std::uint32_t at = 0; at < pool.replicas.size(); ++at) {
            const auto& slot = *pool.replicas[at].slot;
            if (!slot.usable() || std::ranges::find(tried_, &slot) != tried_.end()) continue;
            candidates.push_back({.pool = member.pool, .replica = at, .order = member.order, .in_flight = slot.in_flight(),
                                  .limit = pool.config->max_concurrency_per_replica.value_or(0)});
        }
    }
    return routing::choose(candidates, {.first = services_.random(), .second = services_.random(), .tie = services_.random()});
}

io::Task<void> Request::dispatch(Settlement& settlement, const Alias& alias, const Inspected& inspected, const routing::Eligibility& eligibility) {
    AttemptResult last{.outcome = model::AttemptOutcome::failed,
                       .refusal = Refusal{.reason = Reason::pools_unhealthy, .message = refusal_message({.reason = Reason::pools_unhealthy, .parameter = {}}, alias)},
                       .answered = false};
    std::uint32_t budget = 1;
    for (std::uint32_t used = 0; used < budget; ++used) {
        const auto choice = choose(alias, eligibility);
        if (!choice) break;
        budget = std::max(budget, snapshot_->pools[choice->pool].config->retries.attempts);
        last = co_await try_replica(settlement, alias, inspected, *choice);
        if (last.outcome == model::AttemptOutcome::client_closed) co_return settlement.client_closed(sink_.begun() ? 200 : 0);
        if (last.answered) co_return;
        if (!another_may_help(last)) break;
    }
    const bool rejected = last.outcome == model::AttemptOutcome::rejected;
    co_await refuse(settlement, *std::move(last.refusal), rejected || attempts_ == 0 ? Outcome::refused : Outcome::upstream_failed);
}

void Request::note_choice(Settlement& settlement, const AliasMember& member, const routing::Choice& choice) {
    const auto& pool = snapshot_->pools[choice.pool];
    auto& record = settlement.record;
    record.pool = pool.config->name;
    record.replica = pool.replicas[choice.replica].url;
    record.region = pool.config->region;
    record.assigned_arm = member.baseline ? "baseline" : "candidate";
    record.decision.chosen_by = choice.chosen_by;
    record.decision.score = choice.score;
    record.engine_version = services_.engine_version ? services_.engine_version(record.pool, record.replica) : "";
}

io::Task<AttemptResult> Request::try_replica(Settlement& settlement, const Alias& alias, const Inspected& inspected, const routing::Choice& choice) {
    const auto& pool = snapshot_->pools[choice.pool];
    const auto& replica = pool.replicas[choice.replica];
    const auto member = std::ranges::find(alias.members, choice.pool, &AliasMember::pool);
    note_choice(settlement, *member, choice);
    tried_.push_back(replica.slot.get());
    const auto lease = replica.slot->acquire();
    settlement.record.decision.inflight_at_dispatch = lease.before();

    const UpstreamBody upstream_body{body_, inspected, member->served_model, pool.adapter->needs_include_usage};
    auto allowed = alias.config->client_timeout;
    if (client_timeout_) allowed = std::min(allowed, *client_timeout_);
    const std::string decision = decision_text(settlement.record.decision);
    AttemptPlan plan{.pool = &pool, .replica = &replica, .alias = &alias, .request_head = {}, .request_body = &upstream_body.slices(),
                     .hide_usage_event = upstream_body.added_usage(), .stream = inspected.stream,
                     .debug = entry_->caller.permissions.contains(model::Permission::debug), .fresh_connection = false,
                     .total_deadline = settlement.moments.last_request_byte + allowed, .request_id = id_,
                     .response_limit_bytes = snapshot_->config.server.limits.response_body_bytes, .decision = decision};
    auto result = co_await attempt(settlement, plan);
    if (result.outcome == model::AttemptOutcome::stale_connection) {
        plan.fresh_connection = true;
        result = co_await attempt(settlement, plan);
    }
    co_return result;
}

io::Task<AttemptResult> Request::attempt(Settlement& settlement, AttemptPlan plan) {
    const auto began = base::monotonic_now();
    const std::string engine_request_id = fmt::format("{}-{}", id_, ++attempts_);
    const std::string span = fmt::format("{:016x}", services_.random() | 1U);
    const std::string head = upstream_head({.path = model::path_of(*settlement.record.endpoint), .authority = plan.replica->origin.authority,
                                            .credential = plan.pool->config->credential.reveal(), .request_id = engine_request_id, .span_id = span,
                                            .stream = plan.stream, .body_bytes = total_bytes(*plan.request_body)},
                                           forwarded_);
    plan.request_head = head;
    Attempt try_once{services_, settlement, source_, sink_, plan};
    auto result = co_await try_once.run();
    auto& record = settlement.record;
    record.attempts.push_back({.pool = plan.pool->config->name, .replica = plan.replica->url, .engine_request_id = engine_request_id, .outcome = result.outcome,
                               .duration_ms = base::to_ms(base::monotonic_now() - began), .prompt_tokens = record.prompt_tokens,
                               .completion_tokens = record.completion_tokens});
    co_return result;
}

// The one way to turn a request down after authentication.
io::Task<void> Request::refuse(Settlement& settlement, Refusal refusal, Outcome outcome) {
    settlement.refused(refusal, outcome);
    const RefusalFields fields{refusal, id_};
    const std::string body = error_body(refusal);
    const auto sent = co_await sink_.send(refusal.status_to_send(), fields.all(), body);
    if (!sent) settlement.client_closed(0);
}

std::string Request::decision_text(const model::DecisionRecord& decision) const {
    std::string text = fmt::format("{}; in_flight={}", decision.chosen_by, decision.inflight_at_dispatch.value_or(0));
    for (const auto& excluded : decision.excluded) text += fmt::format("; {}={}", excluded.pool, model::name_of(excluded.reason));
    return text;
}

}  // namespace weir::gateway
