#include "ledger/ledger.h"

#include <gtest/gtest.h>

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
    record.request_id = id;
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

    base::Status insert(std::span<const model::RequestRecord> records) {
        std::unique_lock lock{mutex_};
        ++calls_;
        largest_ = std::max(largest_, records.size());
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_; });
        if (failures_left_ > 0) {
            --failures_left_;
            return base::fail(base::ErrorCode::unavailable, "database is locked");
        }
        for (const auto& record : records) {
            if (record.request_id == refused_id_)
                ++skipped_;
            else
                ++stored_[record.request_id];
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
    base::Status insert(std::span<const model::RequestRecord> records) override { return script_.insert(records); }
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
    void start(LedgerOptions options = {.access_log_path = "off"}) {
        options.store = std::make_unique<ScriptedStore>(script_);
        options.batch_delay = milliseconds{1};
        options.report = [this](std::string_view text) {
            const std::scoped_lock lock{reports_mutex_};
            reports_.emplace_back(text);
        };
        auto started = Ledger::start(std::move(options));
        ASSERT_TRUE(started) << started.error().message();
        ledger_ = *std::move(started);
    }
    void submit(int count, int first = 0) {
        for (int i = first; i < first + count; ++i)
            ledger_->submit(record_of("r" + std::to_string(i)));
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
    std::unique_ptr<Ledger> ledger_;
};

TEST_F(LedgerTest, BringsWhatFourWorkersSubmitToStoreAndLogExactlyOnce) {
    constexpr int each = 3000;
    start({.access_log_path = log_path(), .batch_records = 100});
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 4; ++worker)
        workers.emplace_back([this, worker] { submit(each, worker * each); });
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
    EXPECT_EQ(reports_, (std::vector<std::string>{"the store takes no records, they wait in memory: database is locked",
                                                  "the store takes records again"}));
}

TEST_F(LedgerTest, P032_AFullQueueDropsAndCountsAndKeepsWhatItHas) {
    start({.access_log_path = "off", .queue_capacity = 10});
    script_.close_gate();
    submit(3);
    ASSERT_TRUE(script_.reaches([](const auto& script) { return script.calls_ == 1; }))
        << "three are in the store's hands now";
    submit(22, 3);
    EXPECT_EQ(ledger_->counters().dropped_records, 15U) << "the three count as held";
    script_.open_gate();
    ledger_->stop();
    const auto stored = script_.stored();
    EXPECT_EQ(stored.size(), 10U);
    EXPECT_TRUE(stored.contains("r0") && stored.contains("r9")) << "the newest are dropped, not the oldest";
}

TEST_F(LedgerTest, CapacityIsFreeAgainOnceTheStoreHasTakenTheRecords) {
    start({.access_log_path = "off", .queue_capacity = 4});
    for (int i = 0; i < 40; i += 4) {
        submit(4, i);
        ASSERT_TRUE(script_.reaches(
            [i](const auto& script) { return script.stored_.size() == static_cast<std::size_t>(i) + 4; }));
        while (ledger_->lag().count() != 0)
            std::this_thread::yield();
    }
    EXPECT_EQ(ledger_->counters().dropped_records, 0U);
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

TEST_F(LedgerTest, StopGivesUpInTimeAndCountsWhatItLost) {
    start({.access_log_path = log_path(), .batch_records = 10, .stop_timeout = milliseconds{60}});
    script_.fail_next(1'000'000);
    submit(25);
    const auto began = std::chrono::steady_clock::now();
    ledger_->stop();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{10});
    EXPECT_EQ(ledger_->counters().dropped_records, 25U);
    EXPECT_EQ(ledger_->lag().count(), 0);
    EXPECT_EQ(lines_of(log_path()).size(), 25U) << "the log has them";
}

TEST_F(LedgerTest, StopCutsTheWaitForTheNextTryShort) {
    start({.access_log_path = "off", .stop_timeout = milliseconds{100}});
    script_.fail_next(4);  // the next try would be 400 ms away, which is too late
    submit(1);
    ASSERT_TRUE(script_.reaches([](const auto& script) { return script.calls_ >= 4; }));
    ledger_->stop();
    EXPECT_EQ(script_.stored().size(), 1U);
}

TEST_F(LedgerTest, WhatIsSubmittedAfterStopIsCountedAsDropped) {
    start();
    ledger_->stop();
    submit(2);
    ledger_->stop();
    EXPECT_EQ(ledger_->counters().dropped_records, 2U);
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
    std::filesystem::rename(log_path(), directory_ / "old.log");
    ledger_->reopen_access_log();
    submit(1, 1);
    ledger_->stop();
    EXPECT_EQ(lines_of(directory_ / "old.log").size(), 1U);
    EXPECT_EQ(lines_of(log_path()).size(), 1U);
}

TEST_F(LedgerTest, WithoutAStoreRecordsGoToTheLogOnly) {
    auto started = Ledger::start({.access_log_path = log_path()});
    ASSERT_TRUE(started);
    (*started)->submit(record_of("a"));
    (*started)->stop();
    EXPECT_EQ(lines_of(log_path()).size(), 1U);
    EXPECT_EQ((*started)->counters().dropped_records, 0U);
    EXPECT_EQ((*started)->lag().count(), 0);
}

TEST_F(LedgerTest, ALogThatCannotBeOpenedIsAnErrorAtStart) {
    const auto path = directory_ / "missing" / "access.log";
    const auto started = Ledger::start({.access_log_path = path});
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code(), base::ErrorCode::unavailable);
    EXPECT_NE(started.error().message().find(path.string()), std::string::npos);
}

}  // namespace
}  // namespace weir::ledger
