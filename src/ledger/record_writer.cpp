#include "ledger/record_writer.h"

#include "telemetry/record_codec.h"
#include "telemetry/record_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weir::ledger {

namespace {

constexpr std::chrono::milliseconds first_backoff{50};
constexpr std::chrono::milliseconds longest_backoff{2000};

}  // namespace

RecordWriter::RecordWriter(std::unique_ptr<ports::RecordStore> store, AccessLog log, std::size_t batch_records,
                           Report report)
    : store_{std::move(store)},
      log_{std::move(log)},
      batch_records_{batch_records},
      report_{std::move(report)},
      backoff_{first_backoff},
      records_(batch_records) {}

RecordWriter::Clock::time_point RecordWriter::oldest() const noexcept {
    return batches_.empty() ? Clock::time_point{} : batches_.front().since;
}

void RecordWriter::add(std::span<const Ready> ready, Clock::time_point now) {
    while (!ready.empty()) {
        const auto part = ready.first(std::min(ready.size(), batch_records_));
        ready = ready.subspan(part.size());
        batches_.push_back({.since = now, .number = next_number_++, .ready = {part.begin(), part.end()}});
        waiting_ += part.size();
        render(batches_.back());
        write_lines(batches_.back());
        // While the store is well the batch that was just decoded goes to it as it is.
        if (batches_.size() == 1) store(now, 1);
    }
}

// Decodes the batch and makes the line of each record.
void RecordWriter::render(const Batch& batch) {
    if (std::exchange(rendered_, batch.number) == batch.number) return;
    lines_.clear();
    line_ends_.clear();
    for (std::size_t i = 0; i < batch.ready.size(); ++i) {
        auto& record = records_[i];
        const bool readable = telemetry::decode_record(batch.ready[i].payload, record);
        if (readable && batch.ready[i].interrupted) {
            record.outcome = model::Outcome::interrupted;
            record.status = 0;
            record.reason.reset();
        }
        if (readable) {
            telemetry::append_json(lines_, record);
            lines_.push_back('\n');
        }
        line_ends_.push_back(lines_.size());
    }
}

// A record of an earlier process may have got as far as the store before that one died.
bool RecordWriter::known_to_store(const Ready& ready, std::string_view request_id) {
    if (!ready.left_over || !store_) return false;
    const auto known = store_->contains(request_id);
    return known && *known;
}

void RecordWriter::write_lines(const Batch& batch) {
    unlogged_.clear();
    std::size_t from = 0;
    bool all = true;
    for (std::size_t i = 0; i < batch.ready.size(); ++i) {
        const std::size_t begin = std::exchange(from, line_ends_[i]);
        if (begin == from) {
            ++counters_.dropped_records;
            continue;
        }
        const bool written = batch.ready[i].logged || known_to_store(batch.ready[i], records_[i].request_id);
        if (written && std::exchange(all, false)) unlogged_ = lines_.substr(0, begin);
        if (!written && !all) unlogged_.append(lines_, begin, from - begin);
    }
    counters_.dropped_log_lines += log_.append(all ? lines_ : unlogged_);
    // At once: who dies from here on does not write these lines again.
    for (const auto& ready : batch.ready) {
        if (ready.final_in == nullptr) continue;
        ready.final_in->set_logged(ready.final_at + 1);
        --ready.final_in->unlogged;
    }
}

void RecordWriter::store(Clock::time_point now, std::size_t most_batches) {
    for (std::size_t i = 0; i < most_batches && !batches_.empty() && now >= retry_at_; ++i) {
        if (!store_first(now)) return;
        auto& batch = batches_.front();
        for (const auto& ready : batch.ready)
            --ready.segment->unstored;
        waiting_ -= batch.ready.size();
        batches_.pop_front();
    }
}

// False: the store did not take the first batch; it stays, and retry_at_ says when to try again.
bool RecordWriter::store_first(Clock::time_point now) {
    if (!store_) return true;
    const auto& batch = batches_.front();
    render(batch);
    rows_.clear();
    std::size_t from = 0;
    for (std::size_t i = 0; i < batch.ready.size(); ++i) {
        const std::size_t begin = std::exchange(from, line_ends_[i]);
        if (begin != from)
            rows_.push_back({.record = &records_[i], .json = std::string_view{lines_}.substr(begin, from - begin - 1)});
    }
    const auto stored = store_->insert(rows_);
    if (!stored) {
        // From the end of the try: it may have waited for a lock longer than the pause is.
        note_failure(stored.error(), std::max(now, Clock::now()));
        return false;
    }
    const auto skipped = store_->skipped();
    const auto refused = skipped - std::exchange(skipped_before_, skipped);
    counters_.dropped_records += refused;
    if (refused > 0) report_(fmt::format("{} records are not acceptable to the store and were dropped", refused));
    if (std::exchange(failing_, false)) report_("the store takes records again");
    backoff_ = first_backoff;
    retry_at_ = {};
    return true;
}

void RecordWriter::note_failure(const base::Error& error, Clock::time_point now) {
    ++counters_.store_failures;
    if (!std::exchange(failing_, true))
        report_(fmt::format("the store takes no records, they wait in the spool: {}", error.message()));
    retry_at_ = now + backoff_;
    backoff_ = std::min(backoff_ * 2, longest_backoff);
}

}  // namespace weir::ledger
