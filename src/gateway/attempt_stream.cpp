#include "engine/error_body.h"
#include "gateway/attempt.h"
#include "http/ascii.h"

namespace weir::gateway {

using base::ErrorCode;
using model::AttemptOutcome;
using model::Outcome;
using model::Reason;

namespace {

constexpr std::chrono::milliseconds framing_patience{20};

bool is_event_stream(const http::ResponseHead& head) {
    const auto type = head.fields.find("content-type");
    return type && http::media_type_is(*type, "text/event-stream");
}

Refusal engine_error_refusal(std::string_view error_event_data) {
    const auto error = engine::parse_error_body(0, error_event_data);
    return {.reason = Reason::upstream_error,
            .message = error.message.empty() ? "The engine reported an error while answering." : error.message,
            .param = error.param};
}

// How a stream ended: well, whatever comes behind its terminal; else as the last verdict says.
AttemptResult ending_of(const StreamRelay& relay, RelayVerdict verdict) {
    if (relay.complete()) return {.outcome = AttemptOutcome::ok, .answered = false, .refusal = nullptr};
    if (verdict == RelayVerdict::failed)
        return {.outcome = AttemptOutcome::failed,
                .answered = false,
                .refusal = boxed(engine_error_refusal(relay.engine_error()))};
    if (verdict == RelayVerdict::protocol)
        return {.outcome = AttemptOutcome::protocol,
                .answered = false,
                .refusal = boxed({.reason = Reason::upstream_protocol,
                                  .message = "The engine sent an event that is not a JSON object."})};
    return {.outcome = AttemptOutcome::truncated,
            .answered = false,
            .refusal = boxed(
                {.reason = Reason::upstream_error, .message = "The engine ended the stream before it was complete."})};
}

}  // namespace

// No task of its own: what follows the pump is in run(), so that while a stream waits there is one frame less.
io::Task<AttemptResult> Attempt::relay_stream(http::Exchange& exchange, const http::ResponseHead& head) {
    if (!is_event_stream(head))
        return io::Task<AttemptResult>::ended(
            {.outcome = AttemptOutcome::protocol,
             .answered = false,
             .refusal = boxed({.reason = Reason::upstream_protocol,
                               .message = "The engine did not answer with a stream of events."})});
    exchange.release_head();
    stream_.emplace(services_.relay_scratch, relay_policy());
    return pump(exchange, *stream_);
}

io::Task<AttemptResult> Attempt::end_stream(http::Exchange& exchange, StreamRelay& relay, AttemptResult pumped) {
    if (!concluded_ || pumped.outcome != AttemptOutcome::ok) note_usage(relay);
    if (pumped.outcome == AttemptOutcome::ok) {
        auto finished = co_await finish_stream(relay);
        if (!framing_ended_) co_await drain_framing(exchange);
        co_return finished;
    }
    if (pumped.outcome == AttemptOutcome::client_closed || !sink_.begun()) co_return pumped;
    co_return co_await break_stream(relay, std::move(pumped));
}

// Reads until the upstream's end; ok = the stream is complete. Comments do not move the idle deadline.
io::Task<AttemptResult> Attempt::pump(http::Exchange& exchange, StreamRelay& relay) {
    const auto& timeouts = plan_.pool->config->timeouts;
    const base::Nanoseconds spent = services_.reactor.now() - began_;
    Limit limit = sooner(timeouts.first_token - spent, Reason::upstream_timeout_first_token);
    while (true) {
        // An engine that always has bytes ready never waits, so its wait never ends at the deadline.
        if (services_.reactor.now() >= limit.at)
            co_return relay.complete() ? ending_of(relay, RelayVerdict::complete)
                                       : failure_of({ErrorCode::timeout, ""}, limit, "waiting for its next event", 1);
        if (!exchange.body_is_buffered()) {
            relay.drop_slices();
            const base::Status readable = co_await exchange.wait_readable(wait_until(limit));
            if (!readable) co_return interrupted(exchange, relay, readable.error(), limit);
        }
        RelayVerdict verdict{};
        if (const auto fed = feed(exchange, relay))
            verdict = *fed;
        else
            co_return interrupted(exchange, relay, fed.error(), limit);
        const auto sent = co_await forward(relay, relay.done());
        if (!sent) co_return gone();
        if (relay.progressed() && relay.committed()) limit = sooner(timeouts.idle, Reason::upstream_timeout_idle);
        if (verdict == RelayVerdict::failed || verdict == RelayVerdict::protocol) {
            exchange.spoil();
            co_return ending_of(relay, verdict);
        }
        // Nothing of the protocol comes behind its [DONE]: the client is not kept waiting for the framing.
        if (!framing_ended_ && relay.done()) co_return ending_of(relay, verdict);
        if (!framing_ended_) continue;
        verdict = relay.end();
        const auto flushed = co_await forward(relay, relay.complete() && !concluded_);
        if (!flushed) co_return gone();
        co_return ending_of(relay, verdict);
    }
}

// What has come goes through the relay.
base::Result<RelayVerdict> Attempt::feed(http::Exchange& exchange, StreamRelay& relay) {
    const auto part = exchange.try_read_body();
    if (!part) return std::unexpected{part.error()};
    framing_ended_ = part->end;
    const auto verdict = relay.feed(part->bytes);
    if (relay.fed_output() && !settlement_.moments.upstream_first)
        settlement_.moments.upstream_first = services_.reactor.now();
    return verdict;
}

// The upstream's body cannot be read on.
AttemptResult Attempt::interrupted(http::Exchange& exchange, const StreamRelay& relay, const base::Error& error,
                                   const Limit& limit) {
    if (relay.complete() && error.code() != ErrorCode::cancelled) {
        exchange.spoil();
        return ending_of(relay, RelayVerdict::complete);
    }
    auto failure = failure_of(error, limit, "waiting for its next event", 1);
    if (failure.outcome == AttemptOutcome::reset) failure.outcome = AttemptOutcome::truncated;
    return failure;
}

// Engines send the last chunk in a packet of its own; a connection that gets it in time can be used again.
io::Task<void> Attempt::drain_framing(http::Exchange& exchange) {
    const Limit soon{services_.reactor.now() + framing_patience, Reason::upstream_timeout_idle};
    while (true) {
        const auto part = co_await exchange.read_body(wait_until(soon));
        if (part && part->end) co_return;
        if (part && part->bytes.empty()) continue;
        exchange.spoil();
        co_return;
    }
}

// Nearly always the kernel takes everything at once, and no task is needed.
io::Task<base::Status> Attempt::forward(StreamRelay& relay, bool last) {
    if (relay.slices().empty()) return io::Task<base::Status>::ended();
    if (!sink_.begun()) begin_response(200, true);
    if (last) return forward_last(relay);
    auto writing = sink_.write(relay.slices());
    const auto* const written = writing.ended_with();
    if (written == nullptr) return finish_write(std::move(writing), relay);
    if (*written) note_forwarded(relay);
    return writing;
}

io::Task<base::Status> Attempt::finish_write(io::Task<base::Status> writing, StreamRelay& relay) {
    auto written = co_await std::move(writing);
    if (written) note_forwarded(relay);
    co_return written;
}

io::Task<base::Status> Attempt::forward_last(StreamRelay& relay) {
    const auto before = settlement_.moments;
    note_output(relay);
    conclude(relay);
    auto written = co_await sink_.write(relay.slices());
    if (written)
        delivered_estimate_ = relay.estimated_tokens();
    else
        forget_output_since(before);
    co_return written;
}

// What was not sent was not sent at any time; when the upstream ended stands.
void Attempt::forget_output_since(const telemetry::Moments& before) {
    auto& moments = settlement_.moments;
    moments.first_output_sent = before.first_output_sent;
    moments.first_visible_sent = before.first_visible_sent;
    moments.last_output_sent = before.last_output_sent;
    moments.tokens_in_first_event = before.tokens_in_first_event;
}

void Attempt::note_forwarded(const StreamRelay& relay) {
    delivered_estimate_ = relay.estimated_tokens();
    note_output(relay);
}

void Attempt::note_output(const StreamRelay& relay) {
    if (!relay.fed_output()) return;
    auto& moments = settlement_.moments;
    const auto now = base::monotonic_now();
    if (!moments.first_output_sent) {
        moments.first_output_sent = now;
        // As told, else what the engine's family sends first. The tokens of several sequences side by side, or of
        // candidates that are never shown, say nothing about the time of one.
        const bool one_sequence = plan_.choices == 1 && !settlement_.record.features.contains(model::Feature::best_of);
        if (one_sequence)
            moments.tokens_in_first_event =
                relay.first_event_tokens() ? relay.first_event_tokens() : plan_.pool->adapter->tokens_in_first_event;
    } else if (moments.last_output_sent) {
        services_.metrics.inter_chunk(base::to_seconds(now - *moments.last_output_sent));
    }
    moments.last_output_sent = now;
    if (relay.fed_visible() && !moments.first_visible_sent) moments.first_visible_sent = now;
}

// The record as it will be when what is about to be written arrives.
void Attempt::conclude(const StreamRelay& relay) {
    concluded_ = true;
    note_usage(relay);
    auto& record = settlement_.record;
    record.delivered_tokens = counts_what_is_delivered() && record.completion_tokens
                                  ? record.completion_tokens
                                  : std::optional{relay.estimated_tokens()};
    settlement_.served(200);
    const auto now = base::monotonic_now();
    settlement_.moments.last_upstream_byte = now;
    settlement_.attempt_ended(AttemptOutcome::ok, now);
    settlement_.write_end();
}

io::Task<AttemptResult> Attempt::finish_stream(StreamRelay& relay) {
    if (!concluded_) conclude(relay);
    const auto ended = co_await sink_.end_stream({});
    if (!ended) co_return gone();
    settlement_.delivered();
    co_return AttemptResult{.outcome = AttemptOutcome::ok, .answered = true, .refusal = nullptr};
}

// The response has begun: the failure becomes the stream's last event, and the connection closes behind it.
io::Task<AttemptResult> Attempt::break_stream(StreamRelay&, AttemptResult failure) {
    settlement_.refused(*failure.refusal,
                        failure.outcome == AttemptOutcome::truncated ? Outcome::truncated : Outcome::upstream_failed);
    settlement_.record.status = 200;
    failure.answered = true;
    const std::string event = error_event(*failure.refusal);
    const std::string_view last[] = {event};
    sink_.close_after();
    settlement_.attempt_ended(failure.outcome, base::monotonic_now());
    settlement_.write_end();
    const auto ended = co_await sink_.end_stream(last);
    if (ended)
        settlement_.delivered();
    else
        sink_.abort();
    co_return failure;
}

void Attempt::note_usage(const StreamRelay& relay) {
    auto& record = settlement_.record;
    const auto& usage = relay.usage();
    record.prompt_tokens = usage.prompt_tokens;
    record.completion_tokens = usage.completion_tokens;
    record.cached_tokens = usage.cached_tokens;
    record.reasoning_tokens = usage.reasoning_tokens;
    if (usage.completion_tokens) {
        record.usage_source = model::UsageSource::engine;
    } else if (relay.output_events() > 0) {
        record.usage_source = model::UsageSource::estimate;
        record.completion_tokens = relay.estimated_tokens();
    }
    record.finish_reason = relay.finish_reason();
    record.events = relay.output_events();
    if (sink_.begun()) record.delivered_tokens = delivered_estimate_;
    if (!relay.speculation().known()) return;
    const auto& spec = relay.speculation();
    record.spec = {.steps = spec.steps,
                   .drafted = spec.drafted,
                   .accepted = spec.accepted,
                   .accepted_length = spec.accepted_length,
                   .source = "engine"};
}

void Attempt::begin_response(int status, bool stream) {
    const auto timing = server_timing();
    ResponseFields fields;
    response_fields(fields, timing.view(), stream);
    sink_.begin_stream(status, fields);
    plan_.unsent->reset();
}

}  // namespace weir::gateway
