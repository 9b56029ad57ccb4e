// RecordWriter: brings final records to the access log and to the store, in batches. A line is written once, at once; a
// batch that the store does not take waits, as bytes in the spool, and is tried again. What is stored releases its
// segment. Threads: the writer's.
#pragma once

#include "ledger/access_log.h"
#include "ledger/collector.h"
#include "model/record.h"
#include "ports/record_store.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::ledger {

struct WriterCounters {
    std::uint64_t dropped_records = 0;  // not acceptable to the store, or unreadable
    std::uint64_t dropped_log_lines = 0;
    std::uint64_t store_failures = 0;  // failed tries
};

class RecordWriter {
public:
    using Clock = std::chrono::steady_clock;
    using Report = std::function<void(std::string_view)>;
    // `store` may be nullptr: the log only.
    RecordWriter(std::unique_ptr<ports::RecordStore> store, AccessLog log, std::size_t batch_records, Report report);

    // Writes the lines and puts the records behind those that wait for the store.
    void add(std::span<const Ready> ready, Clock::time_point now);
    // Gives the store what waits, at most `most_batches` of it, until it fails or `now` is before the next try.
    void store(Clock::time_point now, std::size_t most_batches);
    // The next call of store() tries at once.
    void hurry() noexcept { retry_at_ = {}; }
    void reopen_log() { log_.reopen(); }

    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }
    // When the oldest record that waits was added.
    [[nodiscard]] Clock::time_point oldest() const noexcept;
    [[nodiscard]] const WriterCounters& counters() const noexcept { return counters_; }

private:
    struct Batch {
        Clock::time_point since;
        std::uint64_t number = 0;
        std::vector<Ready> ready;
    };
    void render(const Batch& batch);
    void write_lines(const Batch& batch);
    [[nodiscard]] bool known_to_store(const Ready& ready, std::string_view request_id);
    [[nodiscard]] bool store_first(Clock::time_point now);
    void note_failure(const base::Error& error, Clock::time_point now);

    std::unique_ptr<ports::RecordStore> store_;
    AccessLog log_;
    std::size_t batch_records_;
    Report report_;
    std::deque<Batch> batches_;
    std::size_t waiting_ = 0;
    std::uint64_t next_number_ = 1;
    Clock::time_point retry_at_{};
    std::chrono::milliseconds backoff_;
    bool failing_ = false;
    std::uint64_t skipped_before_ = 0;
    WriterCounters counters_;

    // The batch that was decoded last. Vectors and strings keep their memory.
    std::uint64_t rendered_ = 0;
    std::vector<model::RequestRecord> records_;
    std::string lines_;
    std::vector<std::size_t> line_ends_;  // of each record's line, its line end included; none when it is unreadable
    std::vector<ports::RecordRow> rows_;
    std::string unlogged_;
};

}  // namespace weir::ledger
