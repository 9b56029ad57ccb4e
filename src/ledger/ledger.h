// Ledger: takes finished records from the workers and brings them to the store and the access log, in batches, on its
// own writer thread. submit() never blocks for I/O; a store that fails holds up neither the log nor the workers. There
// is no spool yet, so records wait in memory, at most queue_capacity of them: a full queue or the death of the process
// loses what is not stored; the former is counted (weir_events_dropped_total{sink="ledger"}). Threads: submit(),
// reopen_access_log() and the counters from any thread; start() and stop() from one.
#pragma once

#include "base/result.h"
#include "model/record.h"
#include "ports/record_store.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace weir::ledger {

struct LedgerOptions {
    std::unique_ptr<ports::RecordStore> store;       // nullptr: records go to the access log only
    std::string access_log_path = "-";               // "-" = standard output, "off" = none
    std::size_t queue_capacity = 65536;              // records
    std::size_t batch_records = 512;
    std::chrono::milliseconds batch_delay{50};       // how long the first record of a batch may wait
    std::chrono::milliseconds stop_timeout{10'000};  // how long stop() tries to store what is left
    // A problem began or ended, one sentence without secrets; on the writer's thread, at most once a change. May be
    // empty.
    std::function<void(std::string_view)> report;
};

struct LedgerCounters {
    std::uint64_t dropped_records = 0;  // queue full, stopped, given up, or not acceptable to the store
    std::uint64_t dropped_log_lines = 0;
    std::uint64_t store_failures = 0;  // failed tries; the records are kept and tried again
};

class Ledger {
public:
    // Errors: unavailable (the access log cannot be opened).
    [[nodiscard]] static base::Result<std::unique_ptr<Ledger>> start(LedgerOptions options);
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;
    ~Ledger();  // stop()

    void submit(model::RequestRecord&& record);
    // For log rotation: the next batch goes to a newly opened file of the same name.
    void reopen_access_log();
    [[nodiscard]] LedgerCounters counters() const noexcept;
    // Age of the oldest record that is not stored yet; 0 when there is none.
    [[nodiscard]] std::chrono::nanoseconds lag() const noexcept;
    // Writes what is left and ends the writer. Gives up after stop_timeout (and the store call then in progress).
    // Idempotent.
    void stop();

private:
    struct State;
    explicit Ledger(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace weir::ledger
