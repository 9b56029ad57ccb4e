// Services: what the requests of one worker share. Everything here outlives every request of the worker.
// Threads: the worker's own, except the atomics behind slots and counters.
#pragma once

#include "auth/key_table.h"
#include "auth/known_keys.h"
#include "base/random.h"
#include "gateway/inspect.h"
#include "gateway/snapshot.h"
#include "gateway/stream_relay.h"
#include "http/client.h"
#include "io/reactor.h"
#include "ledger/spool.h"
#include "telemetry/request_metrics.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace weir::gateway {

struct Services {
    io::Reactor& reactor;
    http::ClientPool& upstream;
    telemetry::RequestMetrics& metrics;
    ledger::Spool& spool;
    Inspector& inspector;
    RelayScratch& relay_scratch;
    base::Random& random;
    auth::KnownKeys& known_keys;
    std::shared_ptr<const Snapshot> snapshot;    // replaced by the worker's mailbox on reload
    std::shared_ptr<const auth::KeyTable> keys;  // fits the snapshot; replaced with it, and when keys change
    bool draining = false;
    // What is known of a replica's engine, e.g. "0.22.0"; "" = nothing. May be empty.
    std::function<std::string(std::string_view pool, std::string_view replica)> engine_version;
};

}  // namespace weir::gateway
