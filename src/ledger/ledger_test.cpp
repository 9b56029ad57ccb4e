#include "ledger/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

namespace weir::ledger {
namespace {

using std::chrono::milliseconds;

model::RequestRecord record_of(const std::string& id) {
    model::RequestRecord record;
    record.request_id = telemetry::test::kept(std::string{id});
    return record;
}

// What the fake store saw and how it is to behave; shared with the test, which outlives the ledger.
class StoreScript {
public:
    void fail_next(int count) {
        set([&] { failures_left_ = count; });
    }
    void close_gate() {
        set([&] { open_ = false; });
    }
    void open_gate() {
        set([&] { open_ = true; });
    }
    void refuse(const std::string& id) {
        set([&] { refused_id_ = id; });
    }

    base::Status insert(std::span<const ports::RecordRow> rows) {
        std::unique_lock lock{mutex_};
        ++calls_;
        largest_ = std::max(largest_, rows.size());
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_; });
        if (failures_left_ > 0) {
            --failures_left_;
            return base::fail(base::ErrorCode::unavailable, "database is locked");
        }
        for (const auto& row : rows) {
            const auto& record = *row.record;
            if (record.request_id == refused_id_) {
                ++skipped_;
                continue;
            }
            ++stored_[record.request_id];
            outcomes_[record.request_id] = record.outcome;
        }
        changed_.notify_all();
        return {};
    }
    // Waits for the condition, which reads the members under the lock. Bounded.
    template <class Condition>
    [[nodiscard]] bool reaches(Condition condition) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, std::chrono::seconds{20}, [&] { return condition(*this); });
    }
    [[nodiscard]] std::map<std::string, int> stored() {
        const std::scoped_lock lock{mutex_};
        return stored_;
    }
    [[nodiscard]] std::uint64_t skipped() {
        const std::scoped_lock lock{mutex_};
        return skipped_;
    }
    int calls_ = 0;
    std::size_t largest_ = 0;
    std::map<std::string, int> stored_;
    std::map<std::string, model::Outcome> outcomes_;

private:
    template <class Change>
    void set(Change change) {
        const std::scoped_lock lock{mutex_};
        change();
        changed_.notify_all();
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = true;
    int failures_left_ = 0;
    std::uint64_t skipped_ = 0;
    std::string refused_id_;
};

class ScriptedStore final : public ports::RecordStore {
public:
    explicit ScriptedStore(StoreScript& script) : script_{script} {}
    base::Status insert(std::span<const ports::RecordRow> rows) override { return script_.insert(rows); }
    base::Result<bool> contains(const std::string& id) override { return script_.stored().contains(id); }
    base::Result<std::optional<std::string>> find_json(const std::string&) override {
        return std::optional<std::string>{};
    }
    std::uint64_t skipped() const noexcept override { return script_.skipped(); }

private:
    StoreScript& script_;
};

class LedgerTest : public testing::Test {
protected:
    LedgerTest() {
        std::string path = (std::filesystem::temp_directory_path() / "weir-ledger-XXXXXX").string();
        directory_ = ::mkdtemp(path.data());
    }
    ~LedgerTest() override {
        script_.open_gate();
        ledger_.reset();
        std::filesystem::remove_all(directory_);
    }
    [[nodiscard]] SpoolOptions small_spool() const {
        return {.path = directory_ / "spool", .cap_bytes = 8 << 20, .segment_bytes = min_segment_bytes};
    }
    void start(LedgerOptions options = {.access_log_path = "off"}) {
        options.store = std::make_unique<ScriptedStore>(script_);
        options.batch_delay = milliseconds{1};
        if (options.spool.path.empty()) options.spool = small_spool();
        options.report = [this](std::string_view text) {
            const std::scoped_lock lock{reports_mutex_};
            reports_.emplace_back(text);
        };
        auto started = Ledger::start(std::move(options));
        ASSERT_TRUE(started) << started.error().message();
        ledger_ = *std::move(started);
    }
    // False: the spool had no room for it. Waits for a segment to be made ready, as the first of a burst may have to.
    bool submit_one(const std::string& id, std::size_t worker = 0) {
        auto& spool = ledger_->spool(worker);
        const auto record = record_of(id);
        auto ticket = spool.begin(record);
        for (int i = 0; i < patience_ms_ && !ticket.open(); ++i) {
            std::this_thread::sleep_for(milliseconds{1});
            ticket = spool.begin(record);
        }
        const bool begun = ticket.open();
        spool.end(ticket, record, Ending::provisional);
        spool.settle(ticket);
        return begun;
    }
    void submit(int count, int first = 0, std::size_t worker = 0) {
        for (int i = first; i < first + count; ++i)
            EXPECT_TRUE(submit_one("r" + std::to_string(i), worker));
    }
    bool reported(std::string_view part) {
        const std::scoped_lock lock{reports_mutex_};
        return std::ranges::any_of(
            reports_, [part](const std::string& report) { return report.find(part) != std::string::npos; });
    }
    [[nodiscard]] std::vector<std::string> segments() const {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator{directory_ / "spool"})
            if (entry.path().extension() == ".seg") found.push_back(entry.path().filename());
        return found;
    }
    std::vector<std::string> lines_of(const std::filesystem::path& file) {
        std::ifstream in{file};
        std::vector<std::string> lines;
        for (std::string line; std::getline(in, line);)
            lines.push_back(line);
        return lines;
    }
    [[nodiscard]] std::filesystem::path log_path() const { return directory_ / "access.log"; }

    std::filesystem::path directory_;
    StoreScript script_;
    std::mutex reports_mutex_;
    std::vector<std::string> reports_;
    int patience_ms_ = 10'000;
    std::unique_ptr<Ledger> ledger_;
};

TEST_F(LedgerTest, BringsWhatFourWorkersSubmitToStoreAndLogExactlyOnce) {
    constexpr int each = 3000;
    start({.access_log_path = log_path(), .workers = 4, .batch_records = 100});
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 4; ++worker)
        workers.emplace_back([this, worker] { submit(each, worker * each, static_cast<std::size_t>(worker)); });
    for (auto& worker : workers)
        worker.join();
    ledger_->stop();
    const auto stored = script_.stored();
    EXPECT_EQ(stored.size(), 4U * each);
    for (const auto& [id, times] : stored)
        EXPECT_EQ(times, 1) << id;
    EXPECT_LE(script_.largest_, 100U) << "a transaction is bounded";
    const auto lines = lines_of(log_path());
    EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), 4U * each);
    EXPECT_EQ(lines.size(), 4U * each);
    EXPECT_EQ(ledger_->counters().dropped_records, 0U);
    EXPECT_EQ(ledger_->lag().count(), 0);
}

TEST_F(LedgerTest, StoresARecordWithoutWaitingForTheBatchToFill) {
    start();
    submit(1);
    EXPECT_TRUE(script_.reaches([](const auto& script) { return script.stored_.size() == 1; }));
}

TEST_F(LedgerTest, AFailedBatchIsTriedAgainAndNothingIsLostOrDoubled) {
    start();
    script_.fail_next(3);
    submit(5);
    ASSERT_TRUE(script_.reaches([](const auto& script) { return script.calls_ >= 2; }));
    EXPECT_GT(ledger_->lag().count(), 0);
    ASSERT_TRUE(script_.reaches([](const auto& script) { return script.stored_.size() == 5; }));
    ledger_->stop();
    for (const auto& [id, times] : script_.stored())
        EXPECT_EQ(times, 1) << id;
    EXPECT_EQ(ledger_->counters().store_failures, 3U);
    EXPECT_EQ(ledger_->counters().dropped_records, 0U);
    EXPECT_EQ(ledger_->lag().count(), 0);
    EXPECT_EQ(reports_,
              (std::vector<std::string>{"the store takes no records, they wait in the spool: database is locked",
                                        "the store takes records again"}));
}

TEST_F(LedgerTest, P032_AFullSpoolTakesNoMoreAndKeepsWhatItHas) {
    auto options = small_spool();
    options.cap_bytes = 8 * min_segment_bytes;
    start({.access_log_path = "off", .spool = options});
    script_.close_gate();
    int let_in = 0;
    // What one request needs is reserved at its begin, so that the others are told at once.
    patience_ms_ = 100;
    while (let_in < 100'000 && submit_one("r" + std::to_string(let_in)))
        ++let_in;
    EXPECT_GT(let_in, 500);
    EXPECT_LT(let_in, 100'000);
    EXPECT_FALSE(ledger_->spool(0).serves_unrecorded());
    EXPECT_EQ(ledger_->spool_bytes(), options.cap_bytes);
    EXPECT_GT(ledger_->lag().count(), 0);
    script_.open_gate();
    patience_ms_ = 10'000;
    EXPECT_TRUE(submit_one("later")) << "there is room again";
    EXPECT_TRUE(script_.reaches([this](const auto&) { return reported("the spool has room again"); }));
    ledger_->stop();
    EXPECT_EQ(script_.stored().size(), static_cast<std::size_t>(let_in) + 1);
    EXPECT_EQ(ledger_->counters().unrecorded, 0U);
    EXPECT_TRUE(
        reported("it has reached store.spool.cap, 512KiB; when the present ones are full, requests are refused"));
}

TEST_F(LedgerTest, ToldToDropItCountsWhatItHasNoRoomFor) {
    auto options = small_spool();
    options.when_full = WhenFull::drop;
    start({.access_log_path = "off", .spool = options});
    EXPECT_TRUE(ledger_->spool(0).serves_unrecorded());
    EXPECT_EQ(ledger_->counters().unrecorded, 1U);
}

TEST_F(LedgerTest, TheSpoolIsSmallAgainOnceTheStoreHasTakenTheRecords) {
    start();
    for (int i = 0; i < 4000; i += 100) {
        submit(100, i);
        ASSERT_TRUE(script_.reaches(
            [i](const auto& script) { return script.stored_.size() == static_cast<std::size_t>(i) + 100; }));
    }
    for (int i = 0; i < 10'000 && ledger_->spool_bytes() > 4 * min_segment_bytes; ++i)
        std::this_thread::sleep_for(milliseconds{1});
    EXPECT_LE(ledger_->spool_bytes(), 4 * min_segment_bytes);
    EXPECT_EQ(ledger_->counters().dropped_records, 0U);
    ledger_->stop();
    EXPECT_TRUE(segments().empty()) << "and a process that ends well leaves nothing";
}

TEST_F(LedgerTest, TheAccessLogGoesOnWhileTheStoreFails) {
    start({.access_log_path = log_path()});
    script_.fail_next(1'000'000);
    submit(1);
    ASSERT_TRUE(script_.reaches([](const auto& script) { return script.calls_ >= 1; }));
    submit(1, 1);
    ASSERT_TRUE(script_.reaches([this](const auto&) { return lines_of(log_path()).size() == 2; }));
    script_.fail_next(0);
}

TEST_F(LedgerTest, P032_ARecordThatTheStoreCanNeverTakeIsCountedAndBlocksNobody) {
    start();
    script_.refuse("r1");
    submit(3);
    ledger_->stop();
    EXPECT_EQ(script_.stored().size(), 2U);
    EXPECT_EQ(ledger_->counters().dropped_records, 1U);
    EXPECT_EQ(ledger_->counters().store_failures, 0U);
    EXPECT_EQ(reports_.size(), 1U);
}

TEST_F(LedgerTest, StopGivesUpInTimeAndLeavesWhatIsNotStoredToTheNextProcess) {
    start({.access_log_path = log_path(), .batch_records = 10, .stop_timeout = milliseconds{60}});
    script_.fail_next(1'000'000);
    submit(25);
    const auto began = std::chrono::steady_clock::now();
    ledger_->stop();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{10});
    EXPECT_EQ(ledger_->counters().dropped_records, 0U);
    EXPECT_EQ(lines_of(log_path()).size(), 25U) << "the log has them";
    EXPECT_NE(reports_.back().find("25 wait in the spool for the next start"), std::string::npos) << reports_.back();
    EXPECT_EQ(segments().size(), 1U);
    ledger_.reset();
    script_.fail_next(0);
    start({.access_log_path = log_path()});
    ledger_->stop();
    EXPECT_EQ(script_.stored().size(), 25U);
    EXPECT_EQ(lines_of(log_path()).size(), 25U) << "and not twice";
    EXPECT_TRUE(segments().empty());
}

TEST_F(LedgerTest, StopCutsTheWaitForTheNextTryShort) {
    start({.access_log_path = "off", .stop_timeout = milliseconds{100}});
    script_.fail_next(4);  // the next try would be 400 ms away, which is too late
    submit(1);
    ASSERT_TRUE(script_.reaches([](const auto& script) { return script.calls_ >= 4; }));
    ledger_->stop();
    EXPECT_EQ(script_.stored().size(), 1U);
}

TEST_F(LedgerTest, AfterStopThereIsNoRoom) {
    start();
    ledger_->stop();
    patience_ms_ = 0;
    EXPECT_FALSE(submit_one("late"));
    ledger_->stop();
    EXPECT_TRUE(script_.stored().empty());
}

TEST_F(LedgerTest, ALogThatCannotBeWrittenHoldsUpNoRecord) {
    start({.access_log_path = "/dev/full"});
    submit(7);
    ledger_->stop();
    EXPECT_EQ(script_.stored().size(), 7U);
    EXPECT_EQ(ledger_->counters().dropped_log_lines, 7U);
    EXPECT_EQ(ledger_->counters().dropped_records, 0U);
}

TEST_F(LedgerTest, AfterARotationTheNextLinesGoToTheNewFile) {
    start({.access_log_path = log_path()});
    submit(1);
    ASSERT_TRUE(script_.reaches([](const auto& script) { return script.stored_.size() == 1; }));
    while (ledger_->lag().count() != 0)
        std::this_thread::yield();
    std::filesystem::rename(log_path(), directory_ / "old.log");
    ledger_->reopen_access_log();
    submit(1, 1);
    ledger_->stop();
    EXPECT_EQ(lines_of(directory_ / "old.log").size(), 1U);
    EXPECT_EQ(lines_of(log_path()).size(), 1U);
}

TEST_F(LedgerTest, WithoutAStoreRecordsGoToTheLogOnly) {
    auto started = Ledger::start({.access_log_path = log_path(), .spool = small_spool()});
    ASSERT_TRUE(started) << started.error().message();
    ledger_ = *std::move(started);
    submit(1);
    ledger_->stop();
    EXPECT_EQ(lines_of(log_path()).size(), 1U);
    EXPECT_EQ(ledger_->counters().dropped_records, 0U);
    EXPECT_EQ(ledger_->lag().count(), 0);
}

TEST_F(LedgerTest, ALogThatCannotBeOpenedIsAnErrorAtStart) {
    const auto path = directory_ / "missing" / "access.log";
    const auto started = Ledger::start({.access_log_path = path, .spool = small_spool()});
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code(), base::ErrorCode::unavailable);
    EXPECT_NE(started.error().message().find(path.string()), std::string::npos);
}

}  // namespace
}  // namespace weir::ledger
