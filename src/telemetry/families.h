// Families: the one table of Weir's metrics. A family is here only when something in the product feeds it.
// Names and label names: contract.md section 5. A label that a request does not have says `none`.
#pragma once

#include "metric/metric.h"

#include <span>

namespace weir::telemetry {

// Written by RequestMetrics.
extern const metric::Family requests_total;
extern const metric::Family inflight_requests;
extern const metric::Family queue_seconds;
extern const metric::Family time_to_first_token_seconds;
extern const metric::Family time_per_output_token_seconds;
extern const metric::Family inter_chunk_seconds;
extern const metric::Family request_duration_seconds;
extern const metric::Family gateway_overhead_seconds;
extern const metric::Family tokens_total;
extern const metric::Family rejections_total;
extern const metric::Family ineligible_total;
extern const metric::Family attempts_total;
extern const metric::Family client_cancelled_total;

// Derived from the truth at each scrape, so that they cannot go stale (P022).
extern const metric::Family replica_state;
extern const metric::Family replica_signal_age_seconds;
extern const metric::Family config_last_reload_successful;
extern const metric::Family ledger_lag_seconds;
extern const metric::Family spool_bytes;
extern const metric::Family events_dropped_total;
extern const metric::Family pool_info;

// All of the above, in the order of the exposition.
[[nodiscard]] std::span<const metric::Family* const> all_families() noexcept;

}  // namespace weir::telemetry
