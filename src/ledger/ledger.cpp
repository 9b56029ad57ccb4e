#include "ledger/ledger.h"

#include "base/thread_name.h"
#include "ledger/access_log.h"
#include "telemetry/record_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace weir::ledger {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds first_backoff{50};
constexpr std::chrono::milliseconds longest_backoff{2000};

struct Waiting {
    model::RequestRecord record;
    Clock::time_point since;
};
using Queue = std::vector<std::unique_ptr<Waiting>>;

// One transaction's worth.
struct Batch {
    Clock::time_point oldest;
    std::vector<model::RequestRecord> records;
};

// The process's signals are for other threads, and a log whose reader has gone must not end the process.
void block_all_signals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

struct Ledger::State {
    State(LedgerOptions given, AccessLog opened) : options{std::move(given)}, log{std::move(opened)} {}

    void run();
    [[nodiscard]] Queue take();
    void write_log(const Queue& taken);
    void keep(Queue taken);
    void store_pending();
    [[nodiscard]] bool store_first();
    void note_failure(const base::Error& error);
    [[nodiscard]] bool finished();
    void note_oldest();  // with the mutex held
    void report(std::string_view text) const {
        if (options.report) options.report(text);
    }

    LedgerOptions options;

    // The writer thread's own.
    AccessLog log;
    base::JsonWriter line;
    std::string lines;
    std::deque<Batch> pending;  // in the log, not in the store yet
    Clock::time_point retry_at{};
    std::chrono::milliseconds backoff = first_backoff;
    bool failing = false;
    std::uint64_t skipped_before = 0;

    std::mutex mutex;
    std::condition_variable wake;
    Queue queue;
    std::size_t in_pending = 0;          // records in `pending`
    Clock::time_point pending_since{};  // the oldest of them
    bool stopping = false;
    bool hurry = false;  // stop() asks for a try at once
    bool reopen_log = false;
    Clock::time_point stop_deadline{};

    std::atomic<std::int64_t> oldest_ns{0};  // steady clock; 0 = nothing waits
    std::atomic<std::uint64_t> dropped_records{0};
    std::atomic<std::uint64_t> dropped_log_lines{0};
    std::atomic<std::uint64_t> store_failures{0};
    std::jthread writer;
};

Ledger::Ledger(std::unique_ptr<State> state) : state_{std::move(state)} {}
Ledger::~Ledger() { stop(); }

base::Result<std::unique_ptr<Ledger>> Ledger::start(LedgerOptions options) {
    auto log = AccessLog::open(options.access_log_path);
    if (!log) return std::unexpected{std::move(log).error()};
    auto state = std::make_unique<State>(std::move(options), *std::move(log));
    state->writer = std::jthread{[target = state.get()] { target->run(); }};
    return std::unique_ptr<Ledger>{new Ledger{std::move(state)}};
}

void Ledger::submit(model::RequestRecord&& record) {
    // Made before the lock is taken: under it only a pointer moves.
    auto waiting = std::make_unique<Waiting>(std::move(record), Clock::now());
    bool must_wake = false;
    {
        const std::scoped_lock lock{state_->mutex};
        auto& queue = state_->queue;
        if (state_->stopping || queue.size() + state_->in_pending >= state_->options.queue_capacity) {
            state_->dropped_records.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        queue.push_back(std::move(waiting));
        // The writer sleeps until the first record, then for the batch's delay: only these two need a wake-up.
        must_wake = queue.size() == 1 || queue.size() == state_->options.batch_records;
        if (queue.size() == 1) state_->note_oldest();
    }
    if (must_wake) state_->wake.notify_one();
}

void Ledger::reopen_access_log() {
    const std::scoped_lock lock{state_->mutex};
    state_->reopen_log = true;
}

LedgerCounters Ledger::counters() const noexcept {
    return {.dropped_records = state_->dropped_records.load(std::memory_order_relaxed),
            .dropped_log_lines = state_->dropped_log_lines.load(std::memory_order_relaxed),
            .store_failures = state_->store_failures.load(std::memory_order_relaxed)};
}

std::chrono::nanoseconds Ledger::lag() const noexcept {
    const auto oldest = state_->oldest_ns.load(std::memory_order_relaxed);
    if (oldest == 0) return {};
    return std::max(std::chrono::nanoseconds{0}, Clock::now().time_since_epoch() - std::chrono::nanoseconds{oldest});
}

void Ledger::stop() {
    {
        const std::scoped_lock lock{state_->mutex};
        if (!state_->stopping) state_->stop_deadline = Clock::now() + state_->options.stop_timeout;
        state_->stopping = true;
        state_->hurry = true;
    }
    state_->wake.notify_all();
    if (state_->writer.joinable()) state_->writer.join();
}

void Ledger::State::run() {
    base::name_this_thread("weir-writer");
    block_all_signals();
    while (!finished()) {
        auto taken = take();
        write_log(taken);
        keep(std::move(taken));
        store_pending();
    }
}

// Waits for records, or until it is time to try the store again. May return none.
Queue Ledger::State::take() {
    std::unique_lock lock{mutex};
    const auto something_to_do = [this] { return !queue.empty() || hurry || (stopping && pending.empty()); };
    if (pending.empty())
        wake.wait(lock, something_to_do);
    else
        wake.wait_until(lock, retry_at, something_to_do);
    const auto batch_complete = [this] { return stopping || queue.size() >= options.batch_records; };
    if (!queue.empty()) wake.wait_for(lock, options.batch_delay, batch_complete);
    if (std::exchange(hurry, false)) retry_at = {};
    if (std::exchange(reopen_log, false)) log.reopen();
    if (in_pending == 0 && !queue.empty()) pending_since = queue.front()->since;
    in_pending += queue.size();
    return std::exchange(queue, {});
}

void Ledger::State::write_log(const Queue& taken) {
    if (!log.enabled() || taken.empty()) return;
    lines.clear();
    for (const auto& waiting : taken) {
        line.clear();
        telemetry::write_record(line, waiting->record);
        lines.append(line.text()).push_back('\n');
    }
    if (const auto lost = log.append(lines); lost > 0) dropped_log_lines.fetch_add(lost, std::memory_order_relaxed);
}

void Ledger::State::keep(Queue taken) {
    for (auto& waiting : taken) {
        if (pending.empty() || pending.back().records.size() >= options.batch_records)
            pending.push_back({.oldest = waiting->since, .records = {}});
        pending.back().records.push_back(std::move(waiting->record));
    }
}

void Ledger::State::store_pending() {
    while (!pending.empty() && Clock::now() >= retry_at) {
        const auto now = Clock::now();
        std::unique_lock lock{mutex};
        const bool give_up = stopping && now >= stop_deadline;
        lock.unlock();
        const auto count = pending.front().records.size();
        if (give_up)
            dropped_records.fetch_add(count, std::memory_order_relaxed);
        else if (!store_first())
            return;
        pending.pop_front();
        lock.lock();
        in_pending -= count;
        if (!pending.empty()) pending_since = pending.front().oldest;
        note_oldest();
    }
}

// False: the store did not take the first batch; it stays, and retry_at says when to try again.
bool Ledger::State::store_first() {
    if (!options.store) return true;
    const auto stored = options.store->insert(pending.front().records);
    if (!stored) {
        note_failure(stored.error());
        return false;
    }
    const auto skipped = options.store->skipped();
    const auto refused = skipped - std::exchange(skipped_before, skipped);
    if (refused > 0) {
        dropped_records.fetch_add(refused, std::memory_order_relaxed);
        report(fmt::format("{} records are not acceptable to the store and were dropped", refused));
    }
    if (std::exchange(failing, false)) report("the store takes records again");
    backoff = first_backoff;
    retry_at = {};
    return true;
}

void Ledger::State::note_failure(const base::Error& error) {
    store_failures.fetch_add(1, std::memory_order_relaxed);
    if (!std::exchange(failing, true))
        report(fmt::format("the store takes no records, they wait in memory: {}", error.message()));
    const std::scoped_lock lock{mutex};
    const auto now = Clock::now();
    retry_at = now + (stopping ? first_backoff : backoff);
    // The last try is just before giving up.
    if (stopping) retry_at = std::min(retry_at, std::max(stop_deadline, now));
    backoff = std::min(backoff * 2, longest_backoff);
}

bool Ledger::State::finished() {
    const std::scoped_lock lock{mutex};
    return stopping && queue.empty() && in_pending == 0;
}

void Ledger::State::note_oldest() {
    Clock::time_point oldest{};
    if (in_pending > 0)
        oldest = pending_since;
    else if (!queue.empty())
        oldest = queue.front()->since;
    oldest_ns.store(oldest.time_since_epoch().count(), std::memory_order_relaxed);
}

}  // namespace weir::ledger
