// Worker: one thread of the data plane: its reactor, listener, connections, upstream pool and metrics.
// WorkerGroup: all of them; shares connections out, publishes snapshots, drains.
// Threads: the group's members are called from one thread (the composition root's), except counts and collect().
#pragma once

#include "auth/key_table.h"
#include "base/result.h"
#include "gateway/snapshot.h"
#include "io/listener.h"
#include "ledger/ledger.h"
#include "metric/metric.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir::gateway {

struct WorkerOptions {
    std::size_t workers = 1;
    std::size_t max_connections = 20000;  // of all workers together
    std::function<std::string(std::string_view pool, std::string_view replica)> engine_version;  // any thread
    std::function<void(const std::string&)> on_bug;                                               // any thread
};

// What requests read; both parts of one configuration.
struct Tables {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<const auth::KeyTable> keys;
};

class WorkerGroup {
public:
    // Starts the threads. `ledger` has a spool for each worker and outlives the group. Errors: unavailable.
    [[nodiscard]] static base::Result<std::unique_ptr<WorkerGroup>> start(io::ListenerSet listeners, Tables tables,
                                                                          ledger::Ledger& ledger,
                                                                          WorkerOptions options);
    WorkerGroup(const WorkerGroup&) = delete;
    WorkerGroup& operator=(const WorkerGroup&) = delete;
    ~WorkerGroup();

    // New requests read these; requests in flight keep what they have.
    void publish(const Tables& tables);
    // The same for keys alone. May be called from another thread than the rest, but not while publish() is.
    void publish_keys(const std::shared_ptr<const auth::KeyTable>& keys);
    // Closes the listeners (after what the kernel has queued), refuses new requests, finishes those in flight, cuts
    // what is left after `timeout`, and ends the threads. Returns when all have ended.
    void drain(std::chrono::nanoseconds timeout);
    [[nodiscard]] std::size_t connections() const noexcept;
    void collect(metric::Exposition& exposition) const;

private:
    class Worker;
    struct Shared;
    explicit WorkerGroup(std::unique_ptr<Shared> shared);
    std::unique_ptr<Shared> shared_;
    std::vector<std::unique_ptr<Worker>> workers_;
    bool drained_ = false;
};

}  // namespace weir::gateway
