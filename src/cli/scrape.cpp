#include "cli/scrape.h"

#include "telemetry/families.h"

#include <array>

namespace weir::cli {

namespace {

void add_replicas(metric::Exposition& out, const gateway::Pool& pool, base::Instant now) {
    constexpr std::array states{routing::Health::unknown, routing::Health::healthy, routing::Health::loading,
                                routing::Health::unhealthy};
    for (const auto& replica : pool.replicas) {
        const auto health = replica.slot->health();
        for (const auto state : states) {
            const std::array<std::string_view, 3> labels{pool.config->name, replica.url, routing::name_of(state)};
            out.set(telemetry::replica_state, labels, state == health ? 1 : 0);
        }
        const std::array<std::string_view, 2> labels{pool.config->name, replica.url};
        if (const auto probed = replica.slot->last_probe())
            out.set(telemetry::replica_signal_age_seconds, labels, base::to_seconds(now - *probed));
    }
}

void add_pool_info(metric::Exposition& out, const gateway::Pool& pool) {
    const auto& speculation = pool.config->speculation;
    const std::string proposal = speculation.proposal_length ? std::to_string(*speculation.proposal_length) : "none";
    const std::string_view profile =
        pool.config->profiles.empty() ? std::string_view{"none"} : std::string_view{pool.config->profiles.front()};
    const std::array<std::string_view, 6> labels{pool.config->name,
                                                 pool.config->target.model,
                                                 config::name_of(speculation.method),
                                                 proposal,
                                                 "unknown",
                                                 profile};
    out.set(telemetry::pool_info, labels, 1);
}

}  // namespace

std::string render_metrics(const ScrapeSources& sources, base::Instant now) {
    metric::Exposition out;
    sources.workers->collect(out);
    for (const auto& pool : sources.snapshot->pools) {
        add_replicas(out, pool, now);
        add_pool_info(out, pool);
    }
    out.set(telemetry::config_last_reload_successful, {}, sources.last_reload_successful ? 1 : 0);
    out.set(telemetry::ledger_lag_seconds, {}, base::to_seconds(sources.ledger->lag()));
    const auto counters = sources.ledger->counters();
    out.set(telemetry::spool_bytes, {}, static_cast<double>(sources.ledger->spool_bytes()));
    const std::array<std::string_view, 1> ledger_sink{"ledger"}, spool_sink{"spool"}, log_sink{"access_log"};
    out.set(telemetry::events_dropped_total, ledger_sink, static_cast<double>(counters.dropped_records));
    out.set(telemetry::events_dropped_total, spool_sink, static_cast<double>(counters.unrecorded));
    out.set(telemetry::events_dropped_total, log_sink, static_cast<double>(counters.dropped_log_lines));
    return out.text();
}

}  // namespace weir::cli
