#include "telemetry/request_metrics.h"

#include "metric/test_exposition.h"
#include "telemetry/test_record.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <thread>

namespace weir::telemetry {
namespace {

using metric::test::Labels;
using metric::test::ReadExposition;
using model::AttemptOutcome;
using model::Outcome;
using model::Reason;

ReadExposition scrape(const RequestMetrics& metrics) {
    metric::Exposition exposition;
    metrics.collect(exposition);
    return ReadExposition{exposition.text()};
}

const Labels base{{"tenant", "acme"},      {"team", "search"}, {"application", "autocomplete"},  {"workload", "code"},
                  {"alias", "chat-large"}, {"pool", "main"},   {"endpoint", "chat.completions"}, {"stream", "true"}};
const Labels sparse{{"tenant", "acme"}, {"team", "none"}, {"application", "none"}, {"workload", "none"},
                    {"alias", "none"},  {"pool", "none"}, {"endpoint", "none"},    {"stream", "false"}};

Labels with(Labels labels, std::initializer_list<Labels::value_type> more) {
    labels.insert(more);
    return labels;
}

TEST(RequestMetrics, CountsARequestUnderAllItsLabels) {
    RequestMetrics metrics;
    metrics.begin();
    metrics.record(test::full_record());
    const auto read = scrape(metrics);
    EXPECT_EQ(read.value("weir_requests_total", with(base, {{"status", "200"}, {"reason", "none"}})), 1);
    EXPECT_EQ(read.value("weir_tokens_total", with(base, {{"kind", "prompt"}})), 100);
    EXPECT_EQ(read.value("weir_tokens_total", with(base, {{"kind", "cached"}})), 64);
    EXPECT_EQ(read.value("weir_tokens_total", with(base, {{"kind", "completion"}})), 41);
    EXPECT_EQ(read.value("weir_tokens_total", with(base, {{"kind", "reasoning"}})), 7);
    EXPECT_EQ(read.value("weir_attempts_total", {{"outcome", "ok"}}), 1);
    EXPECT_EQ(read.value("weir_attempts_total", {{"outcome", "connect_failed"}}), 1);
    EXPECT_EQ(read.value("weir_ineligible_total", {{"pool", "far"}, {"reason", "region_forbidden"}}), 1);
    EXPECT_EQ(read.value("weir_ineligible_total", {{"pool", "small"}, {"reason", "parameter_unsupported:min_p"}}), 1);
    EXPECT_EQ(read.sum("weir_rejections_total"), 0);
    EXPECT_EQ(read.sum("weir_client_cancelled_total"), 0);
}

TEST(RequestMetrics, ObservesLatenciesInSeconds) {
    RequestMetrics metrics;
    metrics.record(test::full_record());
    const auto read = scrape(metrics);
    const std::map<std::string, double> seconds{{"weir_time_to_first_token_seconds", 0.093},
                                                {"weir_time_per_output_token_seconds", 0.020125},
                                                {"weir_request_duration_seconds", 0.905},
                                                {"weir_gateway_overhead_seconds", 0.0004},
                                                {"weir_queue_seconds", 0}};
    for (const auto& [family, value] : seconds) {
        EXPECT_EQ(read.value(family + "_count", base), 1) << family;
        EXPECT_DOUBLE_EQ(read.value(family + "_sum", base).value_or(-1), value) << family;
    }
}

TEST(RequestMetrics, P017_WhatIsNotKnownIsNotObserved) {
    RequestMetrics metrics;
    metrics.record(test::sparse_record());
    const auto read = scrape(metrics);
    EXPECT_EQ(read.value("weir_request_duration_seconds_count", sparse), 1);
    for (const auto* family : {"weir_time_to_first_token_seconds", "weir_time_per_output_token_seconds",
                               "weir_gateway_overhead_seconds", "weir_queue_seconds", "weir_tokens_total"})
        EXPECT_FALSE(read.families().contains(family)) << family;
}

struct OutcomeCase {
    std::string name;
    int status;
    Outcome outcome;
    std::optional<Reason> reason;
    double rejections;
    double cancelled;
};

TEST(RequestMetrics, EveryOutcomeIsCountedOnce) {
    const std::vector<OutcomeCase> cases{
        {"ok", 200, Outcome::ok, {}, 0, 0},
        {"refused", 404, Outcome::refused, Reason::model_not_found, 1, 0},
        {"engine's own refusal", 422, Outcome::refused, Reason::upstream_rejected, 1, 0},
        {"failed", 502, Outcome::upstream_failed, Reason::upstream_error, 1, 0},
        {"cut after the head", 200, Outcome::truncated, Reason::upstream_timeout_idle, 1, 0},
        {"P015 client gone", 499, Outcome::client_closed, {}, 0, 1},
        {"client gone while refused", 499, Outcome::client_closed, Reason::overloaded, 0, 1},
    };
    for (const auto& wanted : cases) {
        RequestMetrics metrics;
        auto record = test::sparse_record();
        record.status = wanted.status;
        record.outcome = wanted.outcome;
        record.reason = wanted.reason;
        metrics.record(record);
        const auto read = scrape(metrics);
        const std::string reason{wanted.reason ? model::name_of(*wanted.reason) : "none"};
        EXPECT_EQ(read.value("weir_requests_total",
                             with(sparse, {{"status", std::to_string(wanted.status)}, {"reason", reason}})),
                  1)
            << wanted.name;
        EXPECT_EQ(read.sum("weir_requests_total"), 1) << wanted.name;
        EXPECT_EQ(read.sum("weir_rejections_total"), wanted.rejections) << wanted.name;
        EXPECT_EQ(read.sum("weir_client_cancelled_total"), wanted.cancelled) << wanted.name;
    }
}

TEST(RequestMetrics, P028_ARefusalBeforeAuthenticationIsCountedByItsReasonOnly) {
    RequestMetrics metrics;
    metrics.reject(Reason::invalid_api_key);
    metrics.reject(Reason::invalid_api_key);
    const auto read = scrape(metrics);
    EXPECT_EQ(read.value("weir_rejections_total", {{"reason", "invalid_api_key"}}), 2);
    EXPECT_FALSE(read.families().contains("weir_requests_total"));
}

TEST(RequestMetrics, EveryReasonAndAttemptOutcomeHasASeriesFromTheStart) {
    const RequestMetrics metrics;
    const auto read = scrape(metrics);
    for (int i = 0; i <= static_cast<int>(model::last_reason); ++i)
        EXPECT_EQ(
            read.value("weir_rejections_total", {{"reason", std::string{model::name_of(static_cast<Reason>(i))}}}), 0)
            << i;
    EXPECT_EQ(read.value("weir_attempts_total", {{"outcome", "stale_connection"}}), 0);
    EXPECT_EQ(read.families().at("weir_attempts_total").samples.size(), 11U);
    EXPECT_FALSE(read.value("weir_attempts_total", {{"outcome", "other"}}))
        << "the list of outcomes has grown: say so in request_metrics.h";
}

TEST(RequestMetrics, InFlightIsWhatBeganAndIsNotRecorded) {
    RequestMetrics metrics;
    EXPECT_EQ(scrape(metrics).value("weir_inflight_requests"), 0);
    metrics.begin();
    metrics.begin();
    metrics.record(test::full_record());
    EXPECT_EQ(scrape(metrics).value("weir_inflight_requests"), 1);
}

TEST(RequestMetrics, InterChunkGapsGoIntoOneHistogram) {
    RequestMetrics metrics;
    metrics.inter_chunk(0.02);
    metrics.inter_chunk(0.03);
    const auto read = scrape(metrics);
    EXPECT_EQ(read.value("weir_inter_chunk_seconds_count"), 2);
    EXPECT_DOUBLE_EQ(read.value("weir_inter_chunk_seconds_sum").value_or(0), 0.05);
}

TEST(RequestMetrics, TheSameStatusWithAnotherReasonIsAnotherSeries) {
    RequestMetrics metrics;
    auto record = test::sparse_record();
    record.status = 503;
    for (const auto reason : {Reason::queue_full, Reason::overloaded, Reason::queue_full}) {
        record.reason = reason;
        metrics.record(record);
    }
    const auto read = scrape(metrics);
    EXPECT_EQ(read.value("weir_requests_total", with(sparse, {{"status", "503"}, {"reason", "queue_full"}})), 2);
    EXPECT_EQ(read.value("weir_requests_total", with(sparse, {{"status", "503"}, {"reason", "overloaded"}})), 1);
}

TEST(RequestMetrics, P008_AParameterOutsideTheClosedListIsOther) {
    RequestMetrics metrics;
    auto record = test::sparse_record();
    record.decision.excluded = {
        {.pool = "main", .reason = model::Ineligible::parameter_unreliable, .parameter = "minted-by-a-caller"}};
    metrics.record(record);
    EXPECT_EQ(
        scrape(metrics).value("weir_ineligible_total", {{"pool", "main"}, {"reason", "parameter_unreliable:other"}}),
        1);
}

TEST(RequestMetrics, P008_ManyNamesEndInOther) {
    RequestMetrics metrics{{.max_series = 50}};
    auto record = test::sparse_record();
    for (int i = 0; i < 60; ++i) {
        record.alias = test::kept("alias-" + std::to_string(i));
        metrics.record(record);
    }
    const auto read = scrape(metrics);
    EXPECT_EQ(read.families().at("weir_requests_total").samples.size(), 51U);
    EXPECT_EQ(read.sum("weir_requests_total"), 60) << "nothing gets lost";
    EXPECT_EQ(read.sum("weir_request_duration_seconds_count", {{"alias", "other"}}), 10);
}

TEST(RequestMetrics, DroppedLabelsAreLeftOutAndTheirSeriesSummed) {
    RequestMetrics metrics{{.dropped_labels = {"alias", "pool"}}};
    auto record = test::full_record();
    metrics.record(record);
    record.alias = "another";
    record.pool = "spare";
    metrics.record(record);
    auto labels = base;
    labels.erase("alias");
    labels.erase("pool");
    const auto read = scrape(metrics);
    EXPECT_EQ(read.value("weir_requests_total", with(labels, {{"status", "200"}, {"reason", "none"}})), 2);
    EXPECT_EQ(read.value("weir_request_duration_seconds_count", labels), 2);
    EXPECT_EQ(read.value("weir_ineligible_total", {{"reason", "region_forbidden"}}), 2);
}

// For the thread sanitizer, too.
TEST(RequestMetrics, AScrapeWhileWorkersRecordIsWellFormed) {
    constexpr int rounds = 3000;
    RequestMetrics one, two;
    const auto work = [](RequestMetrics& metrics) {
        auto record = test::full_record();
        for (int i = 0; i < rounds; ++i) {
            metrics.begin();
            record.alias = test::kept("alias-" + std::to_string(i % 30));
            metrics.record(record);
        }
    };
    std::thread first{work, std::ref(one)}, second{work, std::ref(two)};
    for (int i = 0; i < 5; ++i)
        scrape(one);
    first.join();
    second.join();
    metric::Exposition exposition;
    one.collect(exposition);
    two.collect(exposition);
    const ReadExposition read{exposition.text()};
    EXPECT_EQ(read.sum("weir_requests_total"), 2 * rounds);
    EXPECT_EQ(read.value("weir_inflight_requests"), 0);
}

// P025: a family that is declared is fed, or it is not declared.
TEST(RequestMetrics, FeedsEveryFamilyThatIsNotDerivedAtScrape) {
    RequestMetrics metrics;
    metrics.record(test::full_record());
    auto gone = test::full_record();
    gone.outcome = Outcome::client_closed;
    metrics.record(gone);
    metrics.inter_chunk(0.1);
    const auto read = scrape(metrics);
    const std::set<const metric::Family*> derived{&replica_state,
                                                  &replica_signal_age_seconds,
                                                  &config_last_reload_successful,
                                                  &ledger_lag_seconds,
                                                  &spool_bytes,
                                                  &events_dropped_total,
                                                  &pool_info};
    for (const auto* family : all_families())
        EXPECT_EQ(read.families().contains(std::string{family->name}), !derived.contains(family)) << family->name;
}

}  // namespace
}  // namespace weir::telemetry
