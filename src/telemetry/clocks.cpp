#include "telemetry/clocks.h"

#include <algorithm>

namespace weir::telemetry {

namespace {

using base::Instant;
using base::Nanoseconds;

// A loop that reads its clock once a turn may see two moments in the wrong order; no span is negative.
Nanoseconds between(Instant from, Instant to) noexcept { return std::max(Nanoseconds{0}, to - from); }

std::optional<double> ms_between(std::optional<Instant> from, std::optional<Instant> to) noexcept {
    if (!from || !to) return std::nullopt;
    return base::to_ms(between(*from, *to));
}

// With speculation one event may carry several tokens, so the tokens of the first event have no time of their own.
std::optional<double> tpot_ms(const Moments& moments, const model::RequestRecord& record) noexcept {
    const auto span = ms_between(moments.first_output_sent, moments.last_output_sent);
    if (!span || !record.completion_tokens || !moments.tokens_in_first_event) return std::nullopt;
    if (record.usage_source != model::UsageSource::engine) return std::nullopt;
    if (*record.completion_tokens <= *moments.tokens_in_first_event) return std::nullopt;
    return *span / static_cast<double>(*record.completion_tokens - *moments.tokens_in_first_event);
}

}  // namespace

TimeSplit split_time(const Moments& moments, Instant now) noexcept {
    TimeSplit split;
    if (moments.queue_entered) split.queue = between(*moments.queue_entered, moments.queue_left.value_or(now));
    if (moments.dispatched) split.upstream = between(*moments.dispatched, moments.last_upstream_byte.value_or(now));
    split.gateway = std::max(Nanoseconds{0}, between(moments.last_request_byte, now) - split.queue - split.upstream);
    return split;
}

ServerTiming server_timing(const TimeSplit& split) {
    ServerTiming text;
    const auto add = [&text](std::string_view name, Nanoseconds span) {
        const auto tenths = static_cast<std::uint64_t>(span / std::chrono::microseconds{100});
        text.add(name);
        text.add(";dur=");
        text.add_number(tenths / 10);
        text.add(".");
        text.add_number(tenths % 10);
    };
    add("queue", split.queue);
    add(", upstream", split.upstream);
    add(", gateway", split.gateway);
    return text;
}

void close_clocks(const Moments& moments, Instant end, model::RequestRecord& record) noexcept {
    record.duration_ms = base::to_ms(between(moments.began, end));
    if (moments.dispatched) {
        const auto split = split_time(moments, end);
        record.queue_ms = base::to_ms(split.queue);
        record.gateway_ms = base::to_ms(split.gateway);
    }
    if (!record.stream) return;
    record.ttft_ms = ms_between(moments.last_request_byte, moments.first_output_sent);
    record.first_visible_ms = ms_between(moments.last_request_byte, moments.first_visible_sent);
    if (moments.first_output_sent) record.upstream_ttft_ms = ms_between(moments.attempt_began, moments.upstream_first);
    record.tpot_ms = tpot_ms(moments, record);
}

}  // namespace weir::telemetry
