#include "telemetry/request_metrics.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace weir::telemetry {

namespace {

constexpr std::size_t pool_label = 5;  // position in the base labels

// Latencies of a scope; each family's series is made when it first counts, so that what never happened has no zeros.
enum Latency : std::size_t { queue, ttft, tpot, duration, overhead, latency_count };
constexpr std::array<std::string_view, 4> token_kinds{"prompt", "cached", "completion", "reasoning"};

std::string_view or_none(std::string_view text) { return text.empty() ? "none" : text; }

struct StatusAndReason {
    int status;
    std::optional<model::Reason> reason;
    friend bool operator==(const StatusAndReason&, const StatusAndReason&) = default;
};

}  // namespace

struct RequestMetrics::Scope {
    explicit Scope(const BaseLabels& values) { std::ranges::copy(values, labels.begin()); }

    std::array<std::string, base_label_count> labels;
    std::array<metric::Series*, latency_count> latencies{};
    std::array<metric::Series*, token_kinds.size()> tokens{};
    metric::Series* cancelled = nullptr;
    std::vector<std::pair<StatusAndReason, metric::Series*>> requests;  // few

    template <std::size_t Extra = 0>
    [[nodiscard]] metric::Series& series_in(metric::FamilyShard& family,
                                            const std::array<std::string_view, Extra>& extra = {}) const {
        std::array<std::string_view, base_label_count + Extra> all;
        std::ranges::copy(extra, std::ranges::copy(labels, all.begin()).out);
        return family.with(all);
    }
};

RequestMetrics::RequestMetrics(const MetricBounds& bounds)
    : max_series_{bounds.max_series},
      requests_{requests_total, max_series_},
      queue_{queue_seconds, max_series_},
      ttft_{time_to_first_token_seconds, max_series_},
      tpot_{time_per_output_token_seconds, max_series_},
      inter_chunk_{inter_chunk_seconds, max_series_},
      duration_{request_duration_seconds, max_series_},
      overhead_{gateway_overhead_seconds, max_series_},
      tokens_{tokens_total, max_series_},
      rejections_{rejections_total, reason_count},
      ineligible_{ineligible_total, max_series_},
      attempts_{attempts_total, outcome_count},
      cancelled_{client_cancelled_total, max_series_},
      inter_chunk_series_{inter_chunk_.with({})} {
    for (std::size_t i = 0; i < base_label_count; ++i)
        dropped_[i] = std::ranges::count(bounds.dropped_labels, request_duration_seconds.labels[i]) != 0;
    for (std::size_t i = 0; i < reason_count; ++i)
        by_reason_[i] = &rejections_.with(std::array{model::name_of(static_cast<model::Reason>(i))});
    for (std::size_t i = 0; i < outcome_count; ++i)
        by_outcome_[i] = &attempts_.with(std::array{model::name_of(static_cast<model::AttemptOutcome>(i))});
}

RequestMetrics::~RequestMetrics() = default;

void RequestMetrics::begin() noexcept { inflight_.fetch_add(1, std::memory_order_relaxed); }

void RequestMetrics::reject(model::Reason reason) noexcept { by_reason_[static_cast<std::size_t>(reason)]->add(1); }

void RequestMetrics::inter_chunk(double seconds) noexcept { inter_chunk_.observe(inter_chunk_series_, seconds); }

RequestMetrics::BaseLabels RequestMetrics::labels_of(const model::RequestRecord& record) const {
    const auto& caller = record.caller;
    BaseLabels labels{or_none(caller.tenant),
                      or_none(caller.team),
                      or_none(caller.application),
                      or_none(caller.workload),
                      or_none(record.alias),
                      or_none(record.pool),
                      record.endpoint ? model::name_of(*record.endpoint) : "none",
                      record.stream ? "true" : "false"};
    for (std::size_t i = 0; i < base_label_count; ++i)
        if (dropped_[i]) labels[i] = "";
    return labels;
}

RequestMetrics::Scope& RequestMetrics::scope_of(const model::RequestRecord& record) {
    const auto labels = labels_of(record);
    std::size_t mixed = 0;
    for (const auto label : labels)
        mixed = mixed * 31 + label.size() + static_cast<unsigned char>(label.empty() ? 0 : label.back());
    Scope*& recent = recent_[mixed % recent_count];
    if (recent == nullptr || !std::ranges::equal(recent->labels, labels)) recent = &find_scope(labels);
    return *recent;
}

RequestMetrics::Scope& RequestMetrics::find_scope(const BaseLabels& labels) {
    key_.clear();
    for (const auto label : labels)
        key_.append(label).push_back('\xff');  // no UTF-8 text has this byte
    if (const auto found = scopes_.find(key_); found != scopes_.end()) return *found->second;
    // A bound for this table as well: what comes later shares one scope, as its series would share one series.
    if (scopes_.size() >= max_series_) {
        auto& rest = scopes_["other"];
        if (!rest) {
            BaseLabels others;
            others.fill("other");
            rest = std::make_unique<Scope>(others);
        }
        return *rest;
    }
    return *scopes_.emplace(key_, std::make_unique<Scope>(labels)).first->second;
}

void RequestMetrics::record(const model::RequestRecord& record) {
    inflight_.fetch_sub(1, std::memory_order_relaxed);
    Scope& scope = scope_of(record);
    count_request(scope, record);
    record_latencies(scope, record);
    record_tokens(scope, record);
    record_decision(record);
}

void RequestMetrics::count_request(Scope& scope, const model::RequestRecord& record) {
    const StatusAndReason key{.status = record.status, .reason = record.reason};
    auto found = std::ranges::find(scope.requests, key, &decltype(scope.requests)::value_type::first);
    if (found == scope.requests.end()) {
        const std::string status = std::to_string(record.status);
        const std::array<std::string_view, 2> extra{status, record.reason ? model::name_of(*record.reason) : "none"};
        found = scope.requests.insert(found, {key, &scope.series_in(requests_, extra)});
    }
    found->second->add(1);
    if (record.outcome == model::Outcome::client_closed) {
        if (scope.cancelled == nullptr) scope.cancelled = &scope.series_in(cancelled_);
        scope.cancelled->add(1);
    } else if (record.reason) {
        reject(*record.reason);
    }
}

void RequestMetrics::record_latencies(Scope& scope, const model::RequestRecord& record) {
    const std::array<std::pair<metric::FamilyShard*, std::optional<double>>, latency_count> observed{
        {{&queue_, record.queue_ms},
         {&ttft_, record.ttft_ms},
         {&tpot_, record.tpot_ms},
         {&duration_, record.duration_ms},
         {&overhead_, record.gateway_ms}}};
    for (std::size_t i = 0; i < observed.size(); ++i) {
        const auto& [family, ms] = observed[i];
        if (!ms) continue;
        if (scope.latencies[i] == nullptr) scope.latencies[i] = &scope.series_in(*family);
        family->observe(*scope.latencies[i], *ms / 1000.0);
    }
}

void RequestMetrics::record_tokens(Scope& scope, const model::RequestRecord& record) {
    const std::array counts{record.prompt_tokens, record.cached_tokens, record.completion_tokens,
                            record.reasoning_tokens};
    for (std::size_t i = 0; i < token_kinds.size(); ++i) {
        if (!counts[i]) continue;
        if (scope.tokens[i] == nullptr) scope.tokens[i] = &scope.series_in(tokens_, std::array{token_kinds[i]});
        scope.tokens[i]->add(static_cast<double>(*counts[i]));
    }
}

void RequestMetrics::record_decision(const model::RequestRecord& record) {
    for (const auto& excluded : record.decision.excluded) {
        std::string reason{model::name_of(excluded.reason)};
        // Only names of the closed list: a parameter's name might be a caller's.
        if (!excluded.parameter.empty())
            reason.append(":").append(model::feature_from_name(excluded.parameter) ? excluded.parameter : "other");
        const std::string_view pool = dropped_[pool_label] ? "" : or_none(excluded.pool);
        ineligible_.with(std::array<std::string_view, 2>{pool, reason}).add(1);
    }
    for (const auto& attempt : record.attempts)
        by_outcome_[static_cast<std::size_t>(attempt.outcome)]->add(1);
}

void RequestMetrics::collect(metric::Exposition& exposition) const {
    exposition.add_value(inflight_requests, {}, static_cast<double>(inflight_.load(std::memory_order_relaxed)));
    for (const auto* shard : {&requests_, &queue_, &ttft_, &tpot_, &inter_chunk_, &duration_, &overhead_, &tokens_,
                              &rejections_, &ineligible_, &attempts_, &cancelled_})
        exposition.add(*shard);
}

}  // namespace weir::telemetry
