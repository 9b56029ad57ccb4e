#include "gateway/request.h"

#include "auth/presented_key.h"
#include "gateway/told.h"
#include "http/ascii.h"

#include <fmt/format.h>

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
    if (error != std::errc{} || end != text->data() + text->size() || !(seconds > 0) || seconds > 86400)
        return std::nullopt;
    return base::Nanoseconds{static_cast<std::int64_t>(seconds * 1e9)};
}

std::string_view text_of(TemperatureClass temperature) {
    switch (temperature) {
        case TemperatureClass::unknown: return "";
        case TemperatureClass::greedy: return "greedy";
        case TemperatureClass::sampled: return "sampled";
    }
    return "";
}

}  // namespace

Request::Request(Services& services, http::RequestSource& source, http::ResponseSink& sink)
    : services_{services}, source_{source}, sink_{sink}, snapshot_{services.snapshot}, keys_{services.keys} {}

io::Task<void> Request::run() {
    const auto now = base::wall_now();
    id_ = make_request_id(now, services_.random);
    const auto entry = authenticate(now);
    if (!entry) return refuse_unrecorded(boxed(invalid_api_key()));
    tenant_ = entry->tenant;
    settlement_.emplace(services_, now, source_.last_byte_at());
    settlement_->record.caller = entry->caller;
    keep_of_head();
    if (settlement_->begin()) return serve();
    return refuse_unrecorded(boxed(
        {.reason = Reason::overloaded,
         .message = "This gateway cannot keep records at present and serves no request without one; try again."}));
}

std::optional<auth::Entry> Request::authenticate(base::WallTime now) const {
    const auto& fields = source_.head().fields;
    // Two of a kind are not a choice that we make for the caller.
    const bool ambiguous = fields.count("authorization") > 1 || fields.count("x-api-key") > 1;
    const auto secret =
        auth::presented_key({.authorization = fields.find("authorization"), .x_api_key = fields.find("x-api-key")});
    // No credential is looked up too, as an empty one, so that every refusal takes the same time.
    return services_.known_keys.authenticate(keys_, ambiguous ? "" : secret.value_or(""), now);
}

io::Task<void> Request::refuse_unrecorded(BoxedRefusal refusal) {
    services_.metrics.reject(refusal->reason);
    const RefusalFields fields{*refusal, id()};
    const std::string body = error_body(*refusal);
    const auto sent = co_await sink_.send(refusal->status_to_send(), fields.all(), body);
    static_cast<void>(sent);
}

void Request::keep_of_head() {
    const auto& fields = source_.head().fields;
    auto& record = settlement_->record;
    record.request_id = id();
    record.config_version = snapshot_->config.version_hash;
    if (const auto theirs = fields.find("x-request-id")) client_request_id_ = theirs->substr(0, max_client_id_bytes);
    record.client_request_id = client_request_id_;
    unsent_ = std::make_unique<Unsent>();
    unsent_->forwarded = forwarded_fields(fields);
    if (unsent_->forwarded.trace) trace_id_ = unsent_->forwarded.trace->trace_id;
    record.trace_id = trace_id_;
    unsent_->client_timeout = timeout_hint(fields);
    if (unsent_->client_timeout) record.client_timeout_ms = base::to_ms(*unsent_->client_timeout);
}

io::Task<void> Request::serve() {
    // Until a stage says otherwise: what is not settled is a fault of ours.
    settlement_->refused({.reason = Reason::internal_error, .message = ""});
    if (services_.draining) {
        sink_.close_after();
        return refuse(boxed(shutting_down()));
    }
    auto operation = route(source_.head());
    if (!operation) return refuse(boxed(std::move(operation).error()));
    if (const auto* generate_operation = std::get_if<Generate>(&*operation)) return generate(*generate_operation);
    return list_models(*std::move(operation));
}

io::Task<void> Request::list_models(Operation operation) {
    const auto& tenant = *snapshot_->tenants[tenant_].config;
    std::vector<ModelCard> cards;
    for (const auto& alias : snapshot_->config.aliases)
        if (tenant.may_use(alias.name)) cards.push_back({alias.name, alias.context_tokens});
    std::string body;
    if (const auto* wanted = std::get_if<ShowModel>(&operation)) {
        const auto* alias = snapshot_->config.aliases.find(wanted->id);
        if (alias == nullptr || !tenant.may_use(alias->name)) {
            auto refusal = boxed({.reason = Reason::model_not_found,
                                  .message = "There is no such model for your key; see GET /v1/models.",
                                  .param = "model"});
            co_return co_await refuse(std::move(refusal));
        }
        body = model_json({wanted->id, alias->context_tokens});
    } else {
        body = model_list_json(cards);
    }
    const auto timing = telemetry::server_timing(telemetry::split_time(settlement_->moments, base::monotonic_now()));
    const std::array<http::Field, 3> fields{
        {{"content-type", "application/json"}, {"x-request-id", id()}, {"server-timing", timing.view()}}};
    settlement_->served(200);
    settlement_->write_end();
    const auto sent = co_await sink_.send(200, fields, body);
    if (!sent) co_return settlement_->client_closed(0);
    settlement_->delivered();
}

BoxedRefusal Request::check_media_type() const {
    const auto type = source_.head().fields.find("content-type");
    if (!type || http::media_type_is(*type, "application/json")) return nullptr;
    return boxed({.reason = Reason::unsupported_media_type,
                  .message = "The body must be JSON: send 'Content-Type: application/json'."});
}

io::Task<void> Request::refuse_body(const http::BodyError& error) {
    if (error.fault == http::Fault::client_closed && source_.client_gone().fired()) {
        settlement_->client_closed(0);
        return io::Task<void>::ended();
    }
    sink_.close_after();
    return refuse(boxed(body_refusal(error)));
}

BoxedRefusal Request::inspect_and_select() {
    auto& record = settlement_->record;
    auto inspected = services_.inspector.inspect(unsent_->body, *record.endpoint);
    if (!inspected) return boxed(refusal_of(std::move(inspected).error()));
    record.stream = inspected->stream;
    record.features = inspected->features;
    record.max_tokens = inspected->max_tokens;
    record.temperature_class = text_of(inspected->temperature);
    unsent_->inspected = *std::move(inspected);
    auto& selection = unsent_->selection;
    selection = select(*snapshot_, snapshot_->tenants[tenant_],
                       {.inspected = unsent_->inspected, .endpoint = *record.endpoint}, record.decision);
    if (selection.alias != nullptr) record.alias = selection.alias->config->name;
    record.policy_outcome = selection.policy_outcome;
    return std::move(selection.refusal);
}

// Most bodies are there.
io::Task<void> Request::generate(Generate operation) {
    path_ = operation.path;
    settlement_->record.endpoint = operation.endpoint;
    if (auto refusal = check_media_type()) return refuse(std::move(refusal));
    auto reading = source_.read_body();
    auto* const read = reading.ended_with();
    return read != nullptr ? generate_from(std::move(*read)) : generate_when_read(std::move(reading));
}

io::Task<void> Request::generate_when_read(io::Task<ReadBody> reading) {
    std::optional<ReadBody> read;
    {
        auto body = std::move(reading);  // its frames end with this block, not with the stream
        read = co_await std::move(body);
    }
    auto rest = generate_from(*std::move(read));
    co_await std::move(rest);
}

io::Task<void> Request::generate_from(ReadBody read) {
    if (!read) return refuse_body(read.error());
    unsent_->body = *std::move(read);
    settlement_->moments.last_request_byte = source_.last_byte_at();
    settlement_->record.prompt_bytes = unsent_->body.size();
    auto refusal = inspect_and_select();
    return refusal ? refuse(std::move(refusal)) : dispatch();
}

// The one way to turn a request down after authentication.
io::Task<void> Request::refuse(BoxedRefusal refusal, Outcome outcome) {
    settlement_->refused(*refusal, outcome);
    const auto& record = settlement_->record;
    const auto timing = telemetry::server_timing(telemetry::split_time(settlement_->moments, base::monotonic_now()));
    const bool debug = record.caller.permissions.contains(model::Permission::debug);
    const std::string decision = debug ? decision_text(record.decision) : std::string{};
    Handling handling{.server_timing = timing.view()};
    if (debug) handling = {timing.view(), record.pool, record.replica, decision};
    const RefusalFields fields{*refusal, id(), handling};
    const std::string body = error_body(*refusal);
    settlement_->write_end();
    const auto sent = co_await sink_.send(refusal->status_to_send(), fields.all(), body);
    if (!sent) co_return settlement_->client_closed(0);
    settlement_->delivered();
}

}  // namespace weir::gateway
