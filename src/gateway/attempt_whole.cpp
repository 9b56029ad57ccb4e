#include "engine/error_body.h"
#include "gateway/attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace weir::gateway {

using base::ErrorCode;
using base::Result;
using model::AttemptOutcome;
using model::Reason;

namespace {

constexpr std::size_t error_body_limit_bytes = 64 * 1024;
constexpr std::uint64_t bytes_per_token = 4;

std::optional<std::chrono::milliseconds> retry_after_of(const http::ResponseHead& head) {
    const auto text = head.fields.find("retry-after");
    if (!text) return std::nullopt;
    unsigned seconds = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
    // A date is rare from engines; the default then applies. Capped, so that no engine parks clients for days.
    if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
    return std::chrono::seconds{std::min(seconds, 3600U)};
}

// Embeddings and tokens are no output: nothing is estimated for them.
std::optional<std::uint64_t> estimated_tokens(const Answer& answer) {
    if (answer.token_ids) return answer.token_ids;
    if (answer.output_bytes == 0) return std::nullopt;
    return std::max<std::uint64_t>(1, (answer.output_bytes + bytes_per_token / 2) / bytes_per_token);
}

AttemptResult refused(AttemptOutcome outcome, Refusal refusal) {
    return {.outcome = outcome, .answered = false, .refusal = boxed(std::move(refusal))};
}

// An engine's answer other than 200, as the client will see it.
AttemptResult classify(const http::ResponseHead& head, std::string_view body) {
    const int status = head.status;
    if (status < 400)
        return refused(AttemptOutcome::protocol,
                       {.reason = Reason::upstream_protocol,
                        .message = fmt::format("The engine answered with the unexpected status {}.", status)});
    auto error = engine::parse_error_body(status, body);
    if (status == 401 || status == 403)
        return refused(
            AttemptOutcome::failed,
            {.reason = Reason::upstream_error,
             .message =
                 "The engine refused the gateway's own credential; an operator must set the pool's credential."});
    if (status == 404 && error.is_model_missing)
        return refused(AttemptOutcome::failed,
                       {.reason = Reason::upstream_error,
                        .message = "The engine does not serve the model that is configured for it."});
    // Many engines repeat the status as the code; that is none.
    if (error.code.find_first_not_of("0123456789") == std::string::npos) error.code.clear();
    if (error.message.empty()) error.message = fmt::format("The engine answered with status {}.", status);
    Refusal refusal{.reason = Reason::upstream_rejected,
                    .message = error.message,
                    .param = error.param,
                    .status = status,
                    .code = error.code,
                    .type = error.type,
                    .retry_after = std::nullopt,
                    .allow = ""};
    if (status == 429 || status == 503) {
        refusal.reason = Reason::upstream_saturated;
        refusal.code.clear();
        refusal.retry_after = retry_after_of(head);
        return refused(AttemptOutcome::saturated, std::move(refusal));
    }
    if (error.is_context_overflow) {
        refusal.code = "context_length_exceeded";
        if (status >= 500) refusal.status = 400;
        return refused(AttemptOutcome::rejected, std::move(refusal));
    }
    if (status < 500 || status == 501) return refused(AttemptOutcome::rejected, std::move(refusal));
    return refused(AttemptOutcome::failed, {.reason = Reason::upstream_error,
                                            .message = fmt::format("The engine failed with status {}.", status)});
}

}  // namespace

io::Task<AttemptResult> Attempt::relay_refusal(http::Exchange& exchange, const http::ResponseHead& head) {
    const Limit limit = sooner(plan_.pool->config->timeouts.idle, Reason::upstream_timeout_idle);
    const auto body = co_await exchange.read_whole_body(error_body_limit_bytes, wait_until(limit));
    // The status says enough when its text does not come whole.
    if (!body && body.error().code() == ErrorCode::cancelled) co_return gone();
    if (!body) exchange.spoil();
    co_return classify(head, body ? std::string_view{*body} : std::string_view{});
}

io::Task<AttemptResult> Attempt::relay_whole(http::Exchange& exchange, const http::ResponseHead& head) {
    const Limit limit{plan_.total_deadline, Reason::upstream_timeout_total};
    if (head.framing == http::Framing::length && head.content_length > plan_.response_limit_bytes)
        co_return failure_of(base::Error{ErrorCode::too_large, ""}, limit, "", 1);
    auto body = co_await exchange.read_whole_body(plan_.response_limit_bytes, wait_until(limit));
    if (!body)
        co_return failure_of(body.error(), limit, "waiting for the rest of its answer", exchange.bytes_received());
    settlement_.moments.upstream_first = base::monotonic_now();
    co_return co_await answer_whole(*std::move(body), head.status);
}

void Attempt::note_answer(const Answer& answer) {
    auto& record = settlement_.record;
    record.prompt_tokens = answer.usage.prompt_tokens;
    record.completion_tokens = answer.usage.completion_tokens;
    record.cached_tokens = answer.usage.cached_tokens;
    record.reasoning_tokens = answer.usage.reasoning_tokens;
    record.finish_reason = answer.finish_reason;
    if (answer.usage.completion_tokens || (answer.usage.known() && answer.output_bytes == 0)) {
        record.usage_source = model::UsageSource::engine;
    } else if (const auto estimate = estimated_tokens(answer)) {
        record.usage_source = model::UsageSource::estimate;
        record.completion_tokens = estimate;
    }
    if (answer.speculation.known())
        record.spec = {.steps = answer.speculation.steps,
                       .drafted = answer.speculation.drafted,
                       .accepted = answer.speculation.accepted,
                       .accepted_length = answer.speculation.accepted_length,
                       .source = "engine"};
}

io::Task<AttemptResult> Attempt::answer_whole(std::string body, int status) {
    const auto policy = relay_policy();
    const Answer& answer = services_.relay_scratch.reader.read(body, policy.answer);
    if (!answer.is_object)
        co_return refused(AttemptOutcome::protocol, {.reason = Reason::upstream_protocol,
                                                     .message = "The engine's answer is not a JSON object."});
    if (answer.has_error) {
        const auto error = engine::parse_error_body(0, body);
        co_return refused(AttemptOutcome::failed,
                          {.reason = Reason::upstream_error,
                           .message = error.message.empty() ? "The engine reported an error." : error.message,
                           .param = error.param});
    }
    note_answer(answer);
    const auto estimate = estimated_tokens(answer);
    Slices slices;
    splice(body, answer.edits, 0, slices);
    const auto timing = server_timing();
    ResponseFields fields;
    response_fields(fields, timing.view(), false);
    auto& record = settlement_.record;
    record.delivered_tokens = counts_what_is_delivered() ? record.completion_tokens : estimate;
    settlement_.served(status);
    const auto now = base::monotonic_now();
    settlement_.moments.last_upstream_byte = now;
    settlement_.attempt_ended(AttemptOutcome::ok, now);
    settlement_.write_end();
    concluded_ = true;
    const auto sent = co_await sink_.send(status, fields, std::span<const std::string_view>{slices});
    if (!sent) co_return gone();
    settlement_.delivered();
    co_return AttemptResult{.outcome = AttemptOutcome::ok, .answered = true, .refusal = nullptr};
}

}  // namespace weir::gateway
