// RequestMetrics: one worker's metrics of requests. record() is the only place that maps a finished record to series.
// Invariant: weir_requests_total counts exactly the requests that have a record; label values come from the
// configuration or from closed lists. Threads: one worker's; collect() from any. Cost: one hash lookup a request.
#pragma once

#include "metric/metric.h"
#include "model/reason.h"
#include "model/record.h"
#include "telemetry/families.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::telemetry {

struct MetricBounds {
    std::vector<std::string> dropped_labels;  // base labels (tenant, pool ...) that are left out of all series
    std::size_t max_series = 5000;            // label sets of one family in one worker; more become `other`
};

class RequestMetrics {
public:
    explicit RequestMetrics(const MetricBounds& bounds = {});
    RequestMetrics(const RequestMetrics&) = delete;
    RequestMetrics& operator=(const RequestMetrics&) = delete;
    ~RequestMetrics();

    // A request got past authentication: in flight until its record().
    void begin() noexcept;
    // Once for each begin(), at the end of the request.
    void record(const model::RequestRecord& record);
    // A refusal before authentication: no record exists, so only weir_rejections_total knows of it.
    void reject(model::Reason reason) noexcept;
    // The gap between two writes with output of one stream.
    void inter_chunk(double seconds) noexcept;

    // Adds this worker's numbers to a scrape.
    void collect(metric::Exposition& exposition) const;

private:
    static constexpr std::size_t base_label_count = 8;
    static constexpr auto reason_count = static_cast<std::size_t>(model::last_reason) + 1;
    static constexpr auto outcome_count = static_cast<std::size_t>(model::AttemptOutcome::stale_connection) + 1;
    using BaseLabels = std::array<std::string_view, base_label_count>;
    struct Scope;  // the series of one set of base labels

    [[nodiscard]] BaseLabels labels_of(const model::RequestRecord& record) const;
    Scope& scope_of(const model::RequestRecord& record);
    Scope& find_scope(const BaseLabels& labels);
    void count_request(Scope& scope, const model::RequestRecord& record);
    void record_latencies(Scope& scope, const model::RequestRecord& record);
    void record_tokens(Scope& scope, const model::RequestRecord& record);
    void record_decision(const model::RequestRecord& record);

    std::size_t max_series_;
    std::array<bool, base_label_count> dropped_{};
    metric::FamilyShard requests_;
    metric::FamilyShard queue_;
    metric::FamilyShard ttft_;
    metric::FamilyShard tpot_;
    metric::FamilyShard inter_chunk_;
    metric::FamilyShard duration_;
    metric::FamilyShard overhead_;
    metric::FamilyShard tokens_;
    metric::FamilyShard rejections_;
    metric::FamilyShard ineligible_;
    metric::FamilyShard attempts_;
    metric::FamilyShard cancelled_;
    // Closed lists, so their series exist from the start and are found without a look-up.
    metric::Series& inter_chunk_series_;
    std::array<metric::Series*, reason_count> by_reason_{};
    std::array<metric::Series*, outcome_count> by_outcome_{};
    std::atomic<std::int64_t> inflight_{0};
    static constexpr std::size_t recent_count = 16;
    std::array<Scope*, recent_count> recent_{};  // found lately: most requests are like one before
    std::string key_;                            // scratch, keeps its memory
    std::unordered_map<std::string, std::unique_ptr<Scope>> scopes_;
};

}  // namespace weir::telemetry
