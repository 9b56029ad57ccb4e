#include "ledger/ledger.h"

#include "ledger/test_ledger.h"

#include <gtest/gtest.h>

#include <thread>

namespace weir::ledger {
namespace {

using std::chrono::milliseconds;
using test::record_of;

class LedgerTest : public test::LedgerFixture {};

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
