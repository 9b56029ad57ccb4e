#include "gateway/attempt.h"

#include "http/ascii.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::gateway {

using base::ErrorCode;
using model::AttemptOutcome;
using model::Reason;

Attempt::Attempt(Services& services, Settlement& settlement, http::RequestSource& source, http::ResponseSink& sink,
                 const AttemptPlan& plan)
    : services_{services},
      settlement_{settlement},
      source_{source},
      sink_{sink},
      plan_{plan},
      began_{services.reactor.now()} {}

Attempt::Limit Attempt::sooner(base::Nanoseconds allowance, Reason reason) const noexcept {
    const base::Instant at = services_.reactor.now() + allowance;
    if (plan_.total_deadline <= at) return {plan_.total_deadline, Reason::upstream_timeout_total};
    return {at, reason};
}

io::Wait Attempt::wait_until(const Limit& limit) noexcept {
    return {.deadline = limit.at, .cancel = &source_.client_gone()};
}

io::Task<AttemptResult> Attempt::run() {
    auto& moments = settlement_.moments;
    if (!moments.dispatched) moments.dispatched = base::monotonic_now();
    moments.attempt_began = base::monotonic_now();
    moments.upstream_first.reset();
    moments.last_upstream_byte.reset();
    settlement_.forget_answer();
    AttemptResult result;
    auto opened = co_await connect(result);
    if (!opened) co_return result;
    const auto* const head = co_await exchange_heads(*opened, result);
    if (head != nullptr) result = co_await relay(*opened, *head);
    if (stream_) result = co_await end_stream(*opened, *stream_, std::move(result));
    co_return finished(*opened, std::move(result));
}

io::Task<base::Result<http::Exchange>> Attempt::connect(AttemptResult& failure) {
    const Limit limit = sooner(plan_.pool->config->timeouts.connect, Reason::upstream_error);
    auto opened = co_await services_.upstream.open(plan_.replica->origin, plan_.fresh_connection, wait_until(limit));
    if (opened) co_return opened;
    failure = failure_of(opened.error(), limit, "connecting to it", 0);
    const bool cancelled = failure.outcome == AttemptOutcome::client_closed;
    if (!cancelled && limit.reason == Reason::upstream_error) failure.outcome = AttemptOutcome::connect_failed;
    co_return opened;
}

AttemptResult Attempt::finished(http::Exchange& exchange, AttemptResult result) {
    if (!concluded_) settlement_.moments.last_upstream_byte = base::monotonic_now();
    // A reused connection that died before any response byte says nothing about the replica.
    if (!result.answered && result.outcome == AttemptOutcome::reset && exchange.reused() &&
        exchange.bytes_received() == 0)
        result.outcome = AttemptOutcome::stale_connection;
    if (result.outcome != AttemptOutcome::ok && result.outcome != AttemptOutcome::rejected &&
        result.outcome != AttemptOutcome::saturated)
        exchange.spoil();
    return result;
}

// Sends the request and reads the answer's head; nullptr = `failure` says why not.
io::Task<const http::ResponseHead*> Attempt::exchange_heads(http::Exchange& exchange, AttemptResult& failure) {
    const Unsent& unsent = **plan_.unsent;
    base::InlineVector<std::string_view, 6> slices{unsent.head};
    for (const auto slice : unsent.upstream_body->slices())
        slices.push_back(slice);
    // A stream must bring its first token in time; a whole answer is bounded by the request's deadline alone.
    const Limit limit = plan_.stream
                            ? sooner(plan_.pool->config->timeouts.first_token, Reason::upstream_timeout_first_token)
                            : Limit{plan_.total_deadline, Reason::upstream_timeout_total};
    const auto sent = co_await exchange.send(slices, wait_until(limit));
    if (!sent) {
        failure = failure_of(sent.error(), limit, "sending the request", exchange.bytes_received());
        co_return nullptr;
    }
    auto read = exchange.try_read_head();
    while (read && *read == nullptr) {
        const base::Status readable = co_await exchange.wait_readable(wait_until(limit));
        read = readable ? exchange.try_read_head() : std::unexpected{readable.error()};
    }
    if (read) co_return *read;
    failure = failure_of(read.error(), limit, "waiting for its answer", exchange.bytes_received());
    // An answer that ends within its head is no HTTP; one that never began is a lost connection.
    if (failure.outcome == AttemptOutcome::reset && exchange.bytes_received() > 0) {
        failure.outcome = AttemptOutcome::protocol;
        failure.refusal->reason = Reason::upstream_protocol;
    }
    co_return nullptr;
}

io::Task<AttemptResult> Attempt::relay(http::Exchange& exchange, const http::ResponseHead& head) {
    // Identity was asked for. Told at once: a stream that nobody can read would only use up its time.
    const auto coding = head.fields.find("content-encoding");
    if (head.status == 200 && coding && !http::equals_ignoring_case(*coding, "identity"))
        return io::Task<AttemptResult>::ended(
            {.outcome = AttemptOutcome::protocol,
             .answered = false,
             .refusal = boxed({.reason = Reason::upstream_protocol,
                               .message = "The engine compressed its answer, which it was not allowed to."})});
    if (head.status != 200) return relay_refusal(exchange, head);
    return plan_.stream ? relay_stream(exchange, head) : relay_whole(exchange, head);
}

AttemptResult Attempt::gone() {
    return {.outcome = AttemptOutcome::client_closed, .answered = true, .refusal = nullptr};
}

AttemptResult Attempt::failure_of(const base::Error& error, const Limit& limit, std::string_view doing,
                                  std::uint64_t bytes_received) const {
    AttemptResult result;
    Refusal refusal{.reason = Reason::upstream_error, .message = ""};
    switch (error.code()) {
        case ErrorCode::cancelled:
            return {.outcome = AttemptOutcome::client_closed, .answered = true, .refusal = nullptr};
        case ErrorCode::timeout:
            result.outcome = AttemptOutcome::timeout;
            refusal.reason = limit.reason;
            refusal.message = fmt::format("The engine took too long: the time limit passed while {}.", doing);
            break;
        case ErrorCode::protocol:
        case ErrorCode::too_large:
            result.outcome = AttemptOutcome::protocol;
            refusal.reason = Reason::upstream_protocol;
            refusal.message = "The engine's answer is malformed or larger than allowed.";
            break;
        default:
            result.outcome = AttemptOutcome::reset;
            refusal.message = bytes_received == 0 ? fmt::format("The engine closed the connection while {}.", doing)
                                                  : "The engine ended its answer before it was complete.";
            break;
    }
    result.refusal = boxed(std::move(refusal));
    return result;
}

RelayPolicy Attempt::relay_policy() const {
    RelayPolicy policy;
    policy.answer.alias_json = plan_.alias->name_json;
    if (!plan_.debug) policy.answer.private_members = plan_.pool->adapter->private_members;
    policy.hide_usage_event = plan_.hide_usage_event;
    policy.choices = plan_.choices;
    policy.event_is_token = plan_.pool->config->engine == config::Engine::llamacpp;
    return policy;
}

bool Attempt::counts_what_is_delivered() const noexcept {
    if (settlement_.record.features.contains(model::Feature::best_of)) return false;
    return plan_.choices <= 1 || plan_.pool->adapter->usage_counts_all_choices;
}

telemetry::ServerTiming Attempt::server_timing() const {
    return telemetry::server_timing(telemetry::split_time(settlement_.moments, base::monotonic_now()));
}

void Attempt::response_fields(ResponseFields& fields, std::string_view server_timing, bool stream) const {
    if (stream) {
        fields.push_back({"content-type", "text/event-stream; charset=utf-8"});
        fields.push_back({"cache-control", "no-cache"});
        fields.push_back({"x-accel-buffering", "no"});
    } else {
        fields.push_back({"content-type", "application/json"});
    }
    fields.push_back({"x-request-id", plan_.request_id});
    fields.push_back({"server-timing", server_timing});
    if (!plan_.debug) return;
    fields.push_back({"x-weir-pool", plan_.pool->config->name});
    fields.push_back({"x-weir-replica", plan_.replica->url});
    fields.push_back({"x-weir-decision", (*plan_.unsent)->decision});
}

}  // namespace weir::gateway
