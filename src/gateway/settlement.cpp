#include "gateway/settlement.h"

namespace weir::gateway {

namespace {

std::optional<double> ms_between(std::optional<base::Instant> from, std::optional<base::Instant> to) {
    if (!from || !to) return std::nullopt;
    return base::to_ms(*to - *from);
}

}  // namespace

Settlement::Settlement(Services& services, base::Instant began) : services_{services}, began_{began} {
    moments.last_request_byte = began;
    record.time = base::wall_now();
    services_.metrics.begin();
}

Settlement::~Settlement() {
    close_clocks(base::monotonic_now());
    services_.metrics.record(record);
    services_.ledger.submit(std::move(record));
}

void Settlement::refused(const Refusal& refusal, model::Outcome outcome) {
    record.status = refusal.status_to_send();
    record.reason = refusal.reason;
    record.outcome = outcome;
}

void Settlement::client_closed(int status_sent) {
    record.status = status_sent == 0 ? 499 : status_sent;
    record.outcome = model::Outcome::client_closed;
}

void Settlement::close_clocks(base::Instant now) {
    record.duration_ms = base::to_ms(now - began_);
    record.queue_ms = ms_between(moments.last_request_byte, moments.dispatched);
    if (record.stream) {
        record.ttft_ms = ms_between(moments.last_request_byte, moments.first_output_sent);
        record.first_visible_ms = ms_between(moments.last_request_byte, moments.first_visible_sent);
        record.upstream_ttft_ms = ms_between(moments.attempt_began, moments.upstream_first);
        if (moments.first_output_sent && moments.last_output_sent && moments.tokens_in_first_event && record.completion_tokens &&
            *record.completion_tokens > *moments.tokens_in_first_event)
            record.tpot_ms = base::to_ms(*moments.last_output_sent - *moments.first_output_sent) /
                             static_cast<double>(*record.completion_tokens - *moments.tokens_in_first_event);
    }
    // The gateway's own part: what is neither the engine's time nor the queue's.
    if (const auto upstream = ms_between(moments.dispatched, moments.last_upstream_byte))
        record.gateway_ms = std::max(0.0, base::to_ms(now - moments.last_request_byte) - *upstream - record.queue_ms.value_or(0));
}

}  // namespace weir::gateway
