// Ledger: brings the records of requests from the workers to the store and the access log. Each worker has a Spool, in
// which a request's frames survive the death of the process; one thread, the writer, reads the spools and writes
// batches, another keeps the spools in segments. What an earlier process left is read at the start. A store that fails
// holds up neither the log nor the workers, until the spool has reached its cap.
// Threads: each spool belongs to one worker; reopen_access_log() and the counters from any thread; start() and stop()
// from one, stop() after the workers have ended. Source: architecture.md, "Spool".
#pragma once

#include "base/result.h"
#include "ledger/spool.h"
#include "ledger/spool_directory.h"
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
    SpoolOptions spool;
    std::size_t workers = 1;                         // that many spools
    std::size_t batch_records = 512;                 // in one transaction
    std::chrono::milliseconds batch_delay{50};       // how long the first record of a batch may wait
    std::chrono::milliseconds stop_timeout{10'000};  // how long stop() tries to store what is left
    // A problem began or ended, one sentence without secrets, at most once a change. Any thread; may be empty.
    std::function<void(std::string_view)> report;
};

struct LedgerCounters {
    std::uint64_t dropped_records = 0;  // not acceptable to the store, or unreadable
    std::uint64_t unrecorded = 0;       // requests served without a record: the spool was full, and told to drop
    std::uint64_t dropped_log_lines = 0;
    std::uint64_t store_failures = 0;  // failed tries; the records are kept and tried again
};

class Ledger {
public:
    // Errors: unavailable (the access log cannot be opened; the spool is in use or has no room).
    [[nodiscard]] static base::Result<std::unique_ptr<Ledger>> start(LedgerOptions options);
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;
    ~Ledger();  // stop()

    // `worker` < workers.
    [[nodiscard]] Spool& spool(std::size_t worker) noexcept;
    // For log rotation: the next batch goes to a newly opened file of the same name.
    void reopen_access_log();
    [[nodiscard]] LedgerCounters counters() const noexcept;
    // Age of the oldest record that is not stored yet; 0 when there is none.
    [[nodiscard]] std::chrono::nanoseconds lag() const noexcept;
    // What the spool's segments take on the disk.
    [[nodiscard]] std::uint64_t spool_bytes() const noexcept;
    // Stores what is left and ends the threads. What the store does not take within stop_timeout (and the call then in
    // progress) stays in the spool for the next start. Idempotent.
    void stop();

private:
    struct State;
    explicit Ledger(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace weir::ledger
