// Scrape: what /metrics shows: every worker's request metrics, and the gauges that are read from state at this moment.
#pragma once

#include "gateway/snapshot.h"
#include "gateway/worker.h"
#include "ledger/ledger.h"

#include <string>

namespace weir::cli {

struct ScrapeSources {
    const gateway::WorkerGroup* workers = nullptr;
    const ledger::Ledger* ledger = nullptr;
    const gateway::Snapshot* snapshot = nullptr;
    bool last_reload_successful = true;
};

[[nodiscard]] std::string render_metrics(const ScrapeSources& sources, base::Instant now);

}  // namespace weir::cli
