#include "ledger/ledger.h"

#include "base/thread_name.h"
#include "ledger/record_writer.h"
#include "ledger/segment_keeper.h"
#include "ledger/segment_shelf.h"
#include "ledger/thread_signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace weir::ledger {

namespace {

using Clock = std::chrono::steady_clock;

// A ring that was missed costs this much delay; it happens only when a record comes as the writer falls asleep.
constexpr std::chrono::milliseconds longest_sleep{250};
// A recovery or the end of a stall may bring a million records at once: they are taken in parts, so that new ones are
// read, and segments removed, in between; and their memory is given back.
constexpr std::size_t batches_at_once = 16;
constexpr std::size_t large_batch = 65536;

}  // namespace

struct Ledger::State {
    State(LedgerOptions given, AccessLog log, std::unique_ptr<SpoolDirectory> opened)
        : options{std::move(given)},
          directory{std::move(opened)},
          keeper{*directory, spools, room_wanted, [this](std::string_view text) { report(text); }},
          shelf{*directory, [this](const std::string& text) { report(text); }},
          writer{std::move(options.store), std::move(log), options.batch_records,
                 [this](std::string_view text) { report(text); }} {}

    void make_spools();
    void run();
    bool take();
    bool add_ready();
    void wait(bool idle);
    void publish_state() noexcept;
    void end();
    void remove_unused();
    [[nodiscard]] bool stop_is_over() const noexcept;
    // Records that are read and not stored.
    [[nodiscard]] std::size_t left() const noexcept { return ready.size() - ready_done + writer.waiting(); }
    void report(std::string_view text) const {
        if (options.report) options.report(text);
    }

    LedgerOptions options;
    std::unique_ptr<SpoolDirectory> directory;
    Bell room_wanted;
    Bell news;      // a record is final
    Bell stop_bell;
    std::vector<std::unique_ptr<Spool>> spools;
    SegmentKeeper keeper;

    // The writer thread's own.
    SegmentShelf shelf;
    RecordWriter writer;
    std::vector<Ready> ready;
    std::size_t ready_done = 0;        // of them the writer has
    Clock::time_point ready_since{};  // when the first of the others was read

    std::atomic<bool> reopen_log{false};
    std::atomic<bool> stopping{false};
    std::atomic<Clock::rep> stop_deadline{0};
    std::atomic<Clock::rep> oldest{0};  // 0 = nothing waits
    std::atomic<std::uint64_t> dropped_records{0};
    std::atomic<std::uint64_t> dropped_log_lines{0};
    std::atomic<std::uint64_t> store_failures{0};
    std::jthread thread;
};

Ledger::Ledger(std::unique_ptr<State> state) : state_{std::move(state)} {}
Ledger::~Ledger() { stop(); }

base::Result<std::unique_ptr<Ledger>> Ledger::start(LedgerOptions options) {
    auto log = AccessLog::open(options.access_log_path);
    if (!log) return std::unexpected{std::move(log).error()};
    auto directory = SpoolDirectory::open(options.spool, options.workers);
    if (!directory) return std::unexpected{std::move(directory).error()};
    auto state = std::make_unique<State>(std::move(options), *std::move(log), *std::move(directory));
    // Before anything is served, so that what an earlier process left is not mistaken for this one's.
    state->ready_since = Clock::now();
    state->shelf.recover(state->ready);
    state->make_spools();
    if (auto started = state->keeper.start(); !started) {
        state->remove_unused();
        return std::unexpected{std::move(started).error()};
    }
    state->thread = std::jthread{[target = state.get()] { target->run(); }};
    return std::unique_ptr<Ledger>{new Ledger{std::move(state)}};
}

Spool& Ledger::spool(std::size_t worker) noexcept { return *state_->spools[worker]; }

void Ledger::reopen_access_log() { state_->reopen_log.store(true); }

LedgerCounters Ledger::counters() const noexcept {
    LedgerCounters counters{.dropped_records = state_->dropped_records.load(std::memory_order_relaxed),
                            .unrecorded = 0,
                            .dropped_log_lines = state_->dropped_log_lines.load(std::memory_order_relaxed),
                            .store_failures = state_->store_failures.load(std::memory_order_relaxed)};
    for (const auto& spool : state_->spools)
        counters.unrecorded += spool->dropped();
    return counters;
}

std::chrono::nanoseconds Ledger::lag() const noexcept {
    const auto oldest = state_->oldest.load(std::memory_order_relaxed);
    if (oldest == 0) return {};
    return std::max(Clock::duration{0}, Clock::now().time_since_epoch() - Clock::duration{oldest});
}

std::uint64_t Ledger::spool_bytes() const noexcept { return state_->directory->bytes(); }

void Ledger::stop() {
    if (!state_->thread.joinable()) return;
    state_->stop_deadline.store((Clock::now() + state_->options.stop_timeout).time_since_epoch().count());
    state_->stopping.store(true);
    state_->stop_bell.wake();
    state_->news.wake();
    state_->thread.join();
}

void Ledger::State::make_spools() {
    for (std::size_t i = 0; i < options.workers; ++i)
        spools.push_back(std::make_unique<Spool>(static_cast<std::uint32_t>(i), *directory, room_wanted, news));
}

void Ledger::State::run() {
    base::name_this_thread("weir-writer");
    block_all_signals();
    while (!stopping.load()) {
        news.arm();
        const bool had_work = take();
        if (ready.empty()) wait(!had_work && writer.waiting() == 0);
    }
    keeper.stop();
    for (const auto& spool : spools)
        spool->close();
    writer.hurry();
    while (true) {
        const std::size_t before = left();
        take();
        if (left() == 0 || stop_is_over()) break;
        if (left() >= before) stop_bell.sleep(std::min(options.batch_delay, longest_sleep));
        writer.hurry();
    }
    end();
}

// What the workers have written until now: to the log, to the store, and off the disk. False = there was nothing.
bool Ledger::State::take() {
    if (reopen_log.exchange(false)) writer.reopen_log();
    if (ready.empty()) ready_since = Clock::now();
    shelf.read(spools, ready);
    const bool any = add_ready();
    writer.store(Clock::now(), batches_at_once);
    shelf.retire();
    publish_state();
    return any;
}

bool Ledger::State::add_ready() {
    if (ready.empty()) return false;
    if (writer.waiting() == 0) oldest.store(ready_since.time_since_epoch().count(), std::memory_order_relaxed);
    const auto part = std::span{ready}.subspan(ready_done);
    const auto taken = part.first(std::min(part.size(), batches_at_once * options.batch_records));
    writer.add(taken, ready_since);
    ready_done += taken.size();
    if (ready_done < ready.size()) return true;
    ready_done = 0;
    if (ready.capacity() > large_batch) ready = {};
    ready.clear();
    return true;
}

// The first record ends the sleep of an idle writer; then the rest of its batch may gather.
void Ledger::State::wait(bool idle) {
    if (idle && !stopping.load()) news.sleep(longest_sleep);
    if (!stopping.load()) stop_bell.sleep(options.batch_delay);
}

void Ledger::State::publish_state() noexcept {
    const auto& counted = writer.counters();
    dropped_records.store(counted.dropped_records, std::memory_order_relaxed);
    dropped_log_lines.store(counted.dropped_log_lines, std::memory_order_relaxed);
    store_failures.store(counted.store_failures, std::memory_order_relaxed);
    const auto since = writer.waiting() > 0 || ready.empty() ? writer.oldest() : ready_since;
    oldest.store(since.time_since_epoch().count(), std::memory_order_relaxed);
}

bool Ledger::State::stop_is_over() const noexcept {
    return Clock::now().time_since_epoch().count() >= stop_deadline.load();
}

void Ledger::State::remove_unused() {
    for (const auto& spool : spools)
        for (const auto& segment : spool->take_unused())
            directory->remove(*segment);
}

void Ledger::State::end() {
    remove_unused();
    shelf.retire_all();
    if (left() > 0) report(fmt::format("the store takes no records; {} wait in the spool for the next start", left()));
}

}  // namespace weir::ledger
