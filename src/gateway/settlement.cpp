#include "gateway/settlement.h"

namespace weir::gateway {

Settlement::Settlement(Services& services, base::Instant began) : services_{services} {
    moments.began = moments.last_request_byte = began;
    record.time = base::wall_now();
    services_.metrics.begin();
}

Settlement::~Settlement() {
    telemetry::close_clocks(moments, served_at_.value_or(base::monotonic_now()), record);
    services_.metrics.record(record);
    services_.ledger.submit(std::move(record));
}

void Settlement::refused(const Refusal& refusal, model::Outcome outcome) {
    record.status = refusal.status_to_send();
    record.reason = refusal.reason;
    record.outcome = outcome;
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

void Settlement::served(int status) {
    served_at_ = base::monotonic_now();
    record.status = status;
    record.reason.reset();
    record.outcome = model::Outcome::ok;
}

void Settlement::client_closed(int status_sent) {
    record.status = status_sent == 0 ? 499 : status_sent;
    record.reason.reset();
    record.outcome = model::Outcome::client_closed;
}

}  // namespace weir::gateway
