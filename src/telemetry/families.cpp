#include "telemetry/families.h"

#include <array>
#include <string_view>

namespace weir::telemetry {

namespace {

using metric::Family;
using metric::Type;

#define WEIR_BASE_LABELS "tenant", "team", "application", "workload", "alias", "pool", "endpoint", "stream"
constexpr std::array<std::string_view, 8> base_labels{WEIR_BASE_LABELS};
constexpr std::array<std::string_view, 10> request_labels{WEIR_BASE_LABELS, "status", "reason"};
constexpr std::array<std::string_view, 9> token_labels{WEIR_BASE_LABELS, "kind"};
#undef WEIR_BASE_LABELS
constexpr std::array<std::string_view, 1> reason_label{"reason"};
constexpr std::array<std::string_view, 2> pool_reason_labels{"pool", "reason"};
constexpr std::array<std::string_view, 1> outcome_label{"outcome"};
constexpr std::array<std::string_view, 3> replica_state_labels{"pool", "replica", "state"};
constexpr std::array<std::string_view, 2> replica_labels{"pool", "replica"};
constexpr std::array<std::string_view, 1> sink_label{"sink"};
constexpr std::array<std::string_view, 6> pool_info_labels{"pool", "target",         "method",
                                                           "k",    "engine_version", "profile"};

// Seconds. Fine where objectives of first and next tokens lie, coarse where only the order of magnitude matters.
constexpr std::array<double, 17> latency_buckets{0.005, 0.01, 0.025, 0.05, 0.1,  0.2,  0.35, 0.5,  0.8,
                                                 1.2,   2.0,  3.5,   6.0,  12.0, 30.0, 60.0, 120.0};
constexpr std::array<double, 16> token_buckets{0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03,
                                               0.04,  0.06,   0.08,  0.12,   0.2,  0.4,   1.0,  4.0};
constexpr std::array<double, 18> duration_buckets{0.01, 0.025, 0.05, 0.1,  0.25, 0.5,  1.0,   2.0,   3.5,
                                                  5.0,  7.5,   10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0};
constexpr std::array<double, 12> overhead_buckets{0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002,
                                                  0.005,   0.01,   0.025,  0.05,   0.1,   0.5};

}  // namespace

const Family requests_total{.name = "weir_requests_total",
                            .type = Type::counter,
                            .help =
                                "Requests that got past authentication, by the status sent (499: none was) and the "
                                "reason of a refusal or failure.",
                            .labels = request_labels};
const Family inflight_requests{.name = "weir_inflight_requests",
                               .type = Type::gauge,
                               .help = "Requests between authentication and their last byte."};
const Family queue_seconds{.name = "weir_queue_seconds",
                           .type = Type::histogram,
                           .help = "From the last byte of a request to its first attempt.",
                           .labels = base_labels,
                           .buckets = overhead_buckets};
const Family time_to_first_token_seconds{.name = "weir_time_to_first_token_seconds",
                                         .type = Type::histogram,
                                         .help =
                                             "From the last byte of a request to the first content, reasoning or tool "
                                             "delta handed to the client's socket; streams only.",
                                         .labels = base_labels,
                                         .buckets = latency_buckets};
const Family time_per_output_token_seconds{
    .name = "weir_time_per_output_token_seconds",
    .type = Type::histogram,
    .help = "Time from the first to the last output event, over the tokens after the first event; streams only.",
    .labels = base_labels,
    .buckets = token_buckets};
const Family inter_chunk_seconds{
    .name = "weir_inter_chunk_seconds",
    .type = Type::histogram,
    .help = "Gap between two writes with output of one stream; with speculation one write may carry several tokens.",
    .labels = {},
    .buckets = token_buckets};
const Family request_duration_seconds{.name = "weir_request_duration_seconds",
                                      .type = Type::histogram,
                                      .help = "From authentication to the last byte of the response.",
                                      .labels = base_labels,
                                      .buckets = duration_buckets};
const Family gateway_overhead_seconds{.name = "weir_gateway_overhead_seconds",
                                      .type = Type::histogram,
                                      .help = "The gateway's own part of a request: neither queue nor engine.",
                                      .labels = base_labels,
                                      .buckets = overhead_buckets};
const Family tokens_total{
    .name = "weir_tokens_total",
    .type = Type::counter,
    .help = "Tokens by kind: prompt, cached (part of prompt), completion, reasoning (part of completion).",
    .labels = token_labels};
const Family rejections_total{.name = "weir_rejections_total",
                              .type = Type::counter,
                              .help = "Refusals by reason, those before authentication included.",
                              .labels = reason_label};
const Family ineligible_total{.name = "weir_ineligible_total",
                              .type = Type::counter,
                              .help = "Pools that could not serve a request, by reason.",
                              .labels = pool_reason_labels};
const Family attempts_total{.name = "weir_attempts_total",
                            .type = Type::counter,
                            .help = "Attempts at replicas by what they came to.",
                            .labels = outcome_label};
const Family client_cancelled_total{.name = "weir_client_cancelled_total",
                                    .type = Type::counter,
                                    .help = "Requests whose client went away before the end.",
                                    .labels = base_labels};
const Family replica_state{.name = "weir_replica_state",
                           .type = Type::gauge,
                           .help = "1 for the present state of a replica: unknown, healthy, loading or unhealthy.",
                           .labels = replica_state_labels};
const Family replica_signal_age_seconds{.name = "weir_replica_signal_age_seconds",
                                        .type = Type::gauge,
                                        .help = "Age of the last probe of a replica; absent before the first.",
                                        .labels = replica_labels};
const Family config_last_reload_successful{.name = "weir_config_last_reload_successful",
                                           .type = Type::gauge,
                                           .help = "1 when the last reading of the configuration was accepted."};
const Family ledger_lag_seconds{.name = "weir_ledger_lag_seconds",
                                .type = Type::gauge,
                                .help = "Age of the oldest record that is not in the store yet."};
const Family spool_bytes{.name = "weir_spool_bytes",
                         .type = Type::gauge,
                         .help =
                             "Disk that the spool's segments take, those kept ready included; at most "
                             "store.spool.cap."};
const Family events_dropped_total{.name = "weir_events_dropped_total",
                                  .type = Type::counter,
                                  .help = "Events lost because a bounded queue was full or a sink failed.",
                                  .labels = sink_label};
const Family pool_info{.name = "weir_pool_info",
                       .type = Type::gauge,
                       .help = "1 for each pool, with what it is configured to be.",
                       .labels = pool_info_labels};

std::span<const Family* const> all_families() noexcept {
    static constexpr std::array<const Family*, 20> all{&requests_total,
                                                       &inflight_requests,
                                                       &queue_seconds,
                                                       &time_to_first_token_seconds,
                                                       &time_per_output_token_seconds,
                                                       &inter_chunk_seconds,
                                                       &request_duration_seconds,
                                                       &gateway_overhead_seconds,
                                                       &tokens_total,
                                                       &rejections_total,
                                                       &ineligible_total,
                                                       &attempts_total,
                                                       &client_cancelled_total,
                                                       &replica_state,
                                                       &replica_signal_age_seconds,
                                                       &config_last_reload_successful,
                                                       &ledger_lag_seconds,
                                                       &spool_bytes,
                                                       &events_dropped_total,
                                                       &pool_info};
    return all;
}

}  // namespace weir::telemetry
