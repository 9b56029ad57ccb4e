#include "gateway/settlement.h"

namespace weir::gateway {

namespace {

// A last write that took longer than this belongs into the record's times.
constexpr std::chrono::milliseconds noticeable{1};

}  // namespace

Settlement::Settlement(Services& services, base::WallTime time, base::Instant began) : services_{services} {
    moments.began = moments.last_request_byte = began;
    record.time = time;
}

bool Settlement::begin() {
    ticket_ = services_.spool.begin(record);
    begun_ = ticket_.open() || services_.spool.serves_unrecorded();
    if (begun_) services_.metrics.begin();
    return begun_;
}

Settlement::~Settlement() {
    if (!begun_) return;
    const bool stands = end_stands();
    if (!stands) telemetry::close_clocks(moments, delivered_at_.value_or(base::monotonic_now()), record);
    services_.metrics.record(record);
    if (stands)
        services_.spool.settle(ticket_);
    else
        services_.spool.end(ticket_, record, ledger::Ending::final_);
}

bool Settlement::end_stands() const noexcept {
    return end_written_at_ && delivered_at_ && !changed_ && *delivered_at_ - *end_written_at_ < noticeable;
}

void Settlement::refused(const Refusal& refusal, model::Outcome outcome) {
    record.status = refusal.status_to_send();
    record.reason = refusal.reason;
    record.outcome = outcome;
    changed_ = true;
}

void Settlement::forget_answer() {
    record.prompt_tokens.reset();
    record.completion_tokens.reset();
    record.cached_tokens.reset();
    record.reasoning_tokens.reset();
    record.delivered_tokens.reset();
    record.usage_source = model::UsageSource::none;
    record.finish_reason.clear();
    record.events.reset();
    record.spec = {};
}

void Settlement::attempt_ended(model::AttemptOutcome outcome, base::Instant now) {
    auto& attempt = record.attempts.back();
    attempt.outcome = outcome;
    attempt.duration_ms = base::to_ms(now - *moments.attempt_began);
    attempt.prompt_tokens = record.prompt_tokens;
    attempt.completion_tokens = record.completion_tokens;
}

void Settlement::served(int status) {
    record.status = status;
    record.reason.reset();
    record.outcome = model::Outcome::ok;
    changed_ = true;
}

void Settlement::client_closed(int status_sent) {
    record.status = status_sent == 0 ? 499 : status_sent;
    record.reason.reset();
    record.outcome = model::Outcome::client_closed;
    changed_ = true;
}

void Settlement::write_end() {
    end_written_at_ = base::monotonic_now();
    telemetry::close_clocks(moments, *end_written_at_, record);
    services_.spool.end(ticket_, record, ledger::Ending::provisional);
    changed_ = false;
}

void Settlement::delivered() { delivered_at_ = base::monotonic_now(); }

}  // namespace weir::gateway
