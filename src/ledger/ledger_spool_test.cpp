// What the ledger does with its spool: full, left behind, found again.
#include "ledger/ledger.h"
#include "ledger/test_ledger.h"

#include <gtest/gtest.h>

#include <atomic>

namespace weir::ledger {
namespace {

using std::chrono::milliseconds;
using test::record_of;

class LedgerSpoolTest : public test::LedgerFixture {};

TEST_F(LedgerSpoolTest, P032_AFullSpoolTakesNoMoreAndKeepsWhatItHas) {
    auto options = small_spool();
    options.cap_bytes = 8 * min_segment_bytes;
    start({.access_log_path = "off", .spool = options});
    script_.close_gate();
    // What one request needs is reserved at its begin, so that the others are told at once.
    const int let_in = fill([this, &options] { return ledger_->spool_bytes() == options.cap_bytes; });
    EXPECT_GT(let_in, 500);
    EXPECT_LT(let_in, 100'000);
    EXPECT_FALSE(ledger_->spool(0).serves_unrecorded());
    EXPECT_EQ(ledger_->spool_bytes(), options.cap_bytes);
    EXPECT_GT(ledger_->lag().count(), 0);
    script_.open_gate();
    patience_ms_ = 10'000;
    EXPECT_TRUE(submit_one("later")) << "there is room again";
    EXPECT_TRUE(comes([this] { return reported("the spool has room again"); }));
    ledger_->stop();
    EXPECT_EQ(script_.stored().size(), static_cast<std::size_t>(let_in) + 1);
    EXPECT_EQ(ledger_->counters().unrecorded, 0U);
    EXPECT_TRUE(
        reported("it has reached store.spool.cap, 512KiB; when the present ones are full, requests are refused"));
}

TEST_F(LedgerSpoolTest, ToldToDropItCountsWhatItHasNoRoomFor) {
    auto options = small_spool();
    options.when_full = WhenFull::drop;
    start({.access_log_path = "off", .spool = options});
    EXPECT_TRUE(ledger_->spool(0).serves_unrecorded());
    EXPECT_EQ(ledger_->counters().unrecorded, 1U);
}

TEST_F(LedgerSpoolTest, TheSpoolIsSmallAgainOnceTheStoreHasTakenTheRecords) {
    start();
    for (int i = 0; i < 4000; i += 100) {
        submit(100, i);
        ASSERT_TRUE(script_.reaches(
            [i](const auto& script) { return script.stored_.size() == static_cast<std::size_t>(i) + 100; }));
    }
    for (int i = 0; i < 10'000 && ledger_->spool_bytes() > 5 * min_segment_bytes; ++i)
        std::this_thread::sleep_for(milliseconds{1});
    EXPECT_LE(ledger_->spool_bytes(), 5 * min_segment_bytes);
    EXPECT_EQ(ledger_->counters().dropped_records, 0U);
    ledger_->stop();
    EXPECT_TRUE(segments().empty()) << "and a process that ends well leaves nothing";
}

TEST_F(LedgerSpoolTest, StopGivesUpInTimeAndLeavesWhatIsNotStoredToTheNextProcess) {
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

TEST_F(LedgerSpoolTest, WhatWasOpenWhenTheProcessEndedIsRecoveredOnceAndNotTwice) {
    const auto spool = directory_ / "spool";
    const auto copy = directory_ / "copy";
    start({.access_log_path = log_path()});
    static_cast<void>(ledger_->spool(0).begin(record_of("begun")));
    auto ended = ledger_->spool(0).begin(record_of("ended"));
    ledger_->spool(0).end(ended, record_of("ended"), Ending::provisional);
    ledger_.reset();
    std::filesystem::copy(spool, copy);
    start({.access_log_path = log_path()});
    ASSERT_TRUE(script_.reaches([](const auto& script) { return script.stored_.size() == 2; }));
    ledger_.reset();
    EXPECT_EQ(script_.outcomes_.at("begun"), model::Outcome::interrupted);
    EXPECT_EQ(script_.outcomes_.at("ended"), model::Outcome::ok);
    EXPECT_EQ(lines_of(log_path()).size(), 2U);
    EXPECT_TRUE(segments().empty());
    // As if that process had died between the commit and the removal of the segment.
    std::filesystem::remove_all(spool);
    std::filesystem::rename(copy, spool);
    start({.access_log_path = log_path()});
    ledger_->stop();
    EXPECT_EQ(lines_of(log_path()).size(), 2U) << "the store knows them";
    EXPECT_TRUE(segments().empty());
}

// A million records in a spool that is at its cap must not keep the next process from starting, nor from serving while
// they are brought to the store.
TEST_F(LedgerSpoolTest, AFullSpoolOfAnEarlierProcessIsEmptiedWhileTheNextServes) {
    auto options = small_spool();
    options.cap_bytes = 2 << 20;
    start({.access_log_path = "off", .spool = options, .batch_records = 16, .stop_timeout = milliseconds{1}});
    script_.fail_next(1'000'000);
    const int left = fill([this, &options] { return ledger_->spool_bytes() == options.cap_bytes; });
    EXPECT_GT(left, 1000);
    ledger_.reset();
    patience_ms_ = 10'000;
    options.cap_bytes = 8 * min_segment_bytes;  // less than what is there
    start({.access_log_path = log_path(), .spool = options, .batch_records = 16});
    EXPECT_GT(ledger_->spool_bytes(), options.cap_bytes);
    EXPECT_TRUE(submit_one("new"));
    EXPECT_TRUE(comes([this] { return ledger_->lag() > std::chrono::nanoseconds{0}; }));
    script_.fail_next(0);
    EXPECT_TRUE(comes([this] { return ledger_->lag().count() == 0; }));
    EXPECT_TRUE(comes([this, &options] { return ledger_->spool_bytes() <= options.cap_bytes; }));
    ledger_->stop();
    EXPECT_EQ(script_.stored().size(), static_cast<std::size_t>(left) + 1);
    EXPECT_EQ(lines_of(log_path()).size(), 1U) << "the others were logged by the first, which had no log";
    EXPECT_TRUE(segments().empty());
}

TEST_F(LedgerSpoolTest, ASecondProcessIsRefused) {
    start();
    const auto second = Ledger::start({.access_log_path = "off", .spool = small_spool()});
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message().find("another weir uses it"), std::string::npos) << second.error().message();
}

TEST_F(LedgerSpoolTest, WithoutRoomForItsFirstSegmentsItDoesNotStartAndLeavesNothing) {
    auto full = small_spool();
    int room = 1;
    full.allocate = [&room](int descriptor, std::size_t bytes) {
        return room-- > 0 ? allocate_on_disk(descriptor, bytes) : ENOSPC;
    };
    const auto started = Ledger::start({.access_log_path = "off", .spool = full});
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().message().find("No space left"), std::string::npos) << started.error().message();
    EXPECT_TRUE(segments().empty());
}

TEST_F(LedgerSpoolTest, ADiskThatIsFullForAWhileLosesNothing) {
    auto options = small_spool();
    std::atomic<bool> full{false};
    options.allocate = [&full](int descriptor, std::size_t bytes) {
        return full.load() ? ENOSPC : allocate_on_disk(descriptor, bytes);
    };
    start({.access_log_path = "off", .spool = options});
    script_.close_gate();
    full.store(true);
    const int let_in = fill(
        [this] { return reported("No space left on device; when the present ones are full, requests are refused"); });
    EXPECT_GT(let_in, 50);
    full.store(false);
    patience_ms_ = 10'000;
    EXPECT_TRUE(submit_one("later"));
    script_.open_gate();
    ledger_->stop();
    EXPECT_EQ(script_.stored().size(), static_cast<std::size_t>(let_in) + 1);
    EXPECT_TRUE(segments().empty());
}

}  // namespace
}  // namespace weir::ledger
