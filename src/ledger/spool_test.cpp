#include "ledger/spool.h"

#include "base/random.h"
#include "ledger/test_spool.h"

#include <map>
#include <thread>

namespace weir::ledger {
namespace {

using test::record_of;
using Texts = std::vector<std::string>;

class SpoolTest : public test::SpoolFixture {};

TEST_F(SpoolTest, ARecordIsFinalWhenItIsSettled) {
    begin();
    auto ticket = spool().begin(record_of("a"));
    EXPECT_EQ(read(), Texts{});
    spool().end(ticket, record_of("a"), Ending::provisional);
    EXPECT_EQ(read(), Texts{}) << "its last write may fail yet";
    spool().settle(ticket);
    EXPECT_EQ(read(), Texts{"a ok"});
    EXPECT_FALSE(ticket.open());
    EXPECT_EQ(read(), Texts{}) << "once";
}

TEST_F(SpoolTest, AnAmendingEndCountsInsteadOfTheFirst) {
    begin();
    auto ticket = spool().begin(record_of("a"));
    spool().end(ticket, record_of("a"), Ending::provisional);
    auto amended = record_of("a");
    amended.outcome = model::Outcome::client_closed;
    spool().end(ticket, amended, Ending::final_);
    EXPECT_EQ(read(), Texts{"a client_closed"});
    spool().settle(ticket);
    spool().end(ticket, record_of("a"), Ending::final_);
    EXPECT_EQ(read(), Texts{}) << "nothing comes behind a final end";
}

TEST_F(SpoolTest, AnEndThatIsFinalAtOnceNeedsNothingElse) {
    begin();
    auto ticket = spool().begin(record_of("a"));
    spool().end(ticket, record_of("a"), Ending::final_);
    EXPECT_EQ(read(), Texts{"a ok"});
}

TEST_F(SpoolTest, WithoutATicketNothingIsWritten) {
    begin(options(), 1, 0);
    auto ticket = spool().begin(record_of("a"));
    EXPECT_FALSE(ticket.open()) << "there is no segment";
    spool().end(ticket, record_of("a"), Ending::provisional);
    spool().settle(ticket);
    EXPECT_EQ(read(), Texts{});
}

// The promise on which everything stands: a request that was let in can write its end, twice, however large it is, when
// no segment is added any more.
TEST_F(SpoolTest, EveryRequestThatIsLetInHasRoomForItsEnds) {
    const std::uint64_t seed = base::Random::from_system()();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    base::Random random{seed};
    begin(options(), 1, 12);
    auto large = record_of("x");
    for (auto* text : {&large.alias, &large.pool, &large.replica, &large.region, &large.engine_version,
                       &large.assigned_arm, &large.policy_outcome, &large.spec.source})
        *text = telemetry::test::kept(std::string(600, 'y'));
    large.finish_reason = std::string(600, 'y');
    for (int i = 0; i < 500; ++i)
        large.decision.eligible.push_back(telemetry::test::kept("pool-" + std::to_string(i)));
    std::map<std::string, Ticket> open;
    std::size_t begun = 0;
    for (int i = 0; i < 100'000; ++i) {
        auto record = record_of("r" + std::to_string(i));
        record.client_request_id = telemetry::test::kept(std::string(random.below(129), 'c'));
        const auto ticket = spool().begin(record);
        if (!ticket.open()) break;
        ++begun;
        open.emplace(std::string{record.request_id}, ticket);
        // Some end early, in any order.
        if (random.below(3) != 0) continue;
        const auto chosen = open.begin();
        large.request_id = telemetry::test::kept(chosen->first);
        large.client_request_id = telemetry::test::kept(std::string(128, 'c'));
        spool().end(chosen->second, large, Ending::final_);
        open.erase(chosen);
    }
    EXPECT_GT(begun, 200U);
    for (auto& [id, ticket] : open) {
        large.request_id = telemetry::test::kept(id);
        spool().end(ticket, large, Ending::provisional);
        spool().end(ticket, large, Ending::final_);
    }
    EXPECT_EQ(read().size(), begun);
    EXPECT_FALSE(reported("damaged"));
}

TEST_F(SpoolTest, AsksForASegmentInTime) {
    begin(options(), 1, 0);
    EXPECT_TRUE(spool().missing());
    int granted = 0;
    for (int i = 0; i < 3000; ++i) {
        while (spool().missing()) {
            ASSERT_TRUE(grant());
            ++granted;
            read();
            store();
        }
        write("r" + std::to_string(i));
    }
    EXPECT_GT(granted, 10);
}

// Requests that end give their reserve back, maybe just before the keeper looks.
TEST_F(SpoolTest, AsksAgainForWhatWasNotMissingWhenTheKeeperLooked) {
    begin(options(), 1, 0);
    while (spool().missing())
        ASSERT_TRUE(grant());
    const auto asked = [this] { return room_wanted_.sleep({}); };
    for (int times = 0; times < 3; ++times) {
        std::vector<Ticket> tickets;
        while (!spool().missing()) {
            asked();  // for other reasons
            tickets.push_back(spool().begin(record_of("a")));
            ASSERT_TRUE(tickets.back().open());
        }
        EXPECT_TRUE(asked()) << times;
        for (auto& ticket : tickets)
            spool().end(ticket, record_of("a"), Ending::final_);
        ASSERT_FALSE(spool().missing());
    }
}

TEST_F(SpoolTest, ABurstThatTookTheLastSegmentMakesTheLeadLonger) {
    begin(options(), 1, 0);
    const auto fill_up = [this] {
        int granted = 0;
        while (spool().missing() && grant())
            ++granted;
        return granted;
    };
    const int before = fill_up();
    for (auto ticket = spool().begin(record_of("a")); ticket.open(); ticket = spool().begin(record_of("a")))
        spool().end(ticket, record_of("a"), Ending::final_);
    read();
    store();
    EXPECT_GT(fill_up(), before);
}

TEST_F(SpoolTest, ReservedRoomComesBackWithTheEnd) {
    begin(options(), 1, 2);
    std::vector<Ticket> tickets;
    for (auto ticket = spool().begin(record_of("a")); ticket.open(); ticket = spool().begin(record_of("a")))
        tickets.push_back(ticket);
    EXPECT_GT(tickets.size(), 20U);
    for (auto& ticket : tickets)
        spool().end(ticket, record_of("a"), Ending::final_);
    EXPECT_TRUE(spool().begin(record_of("b")).open());
}

TEST_F(SpoolTest, ClosedItLetsNothingIn) {
    begin();
    spool().close();
    EXPECT_FALSE(spool().begin(record_of("late")).open());
}

// One thread appends, another reads at the same time: every record once, in order, none torn. TSan watches.
TEST_F(SpoolTest, IsReadWhileItIsWritten) {
    constexpr int count = 20'000;
    begin(options(), 1, 4);
    std::atomic<bool> done{false};
    std::jthread worker{[this, &done] {
        for (int i = 0; i < count; ++i) {
            auto ticket = spool().begin(record_of(std::to_string(i)));
            while (!ticket.open()) {
                std::this_thread::yield();
                ticket = spool().begin(record_of(std::to_string(i)));
            }
            spool().end(ticket, record_of(std::to_string(i)), Ending::provisional);
            spool().settle(ticket);
        }
        done.store(true);
    }};
    int next = 0;
    for (bool last = false; !last;) {
        last = done.load();
        while (spool().missing() && grant()) {}
        ready_.clear();
        shelf_->read(spools_, ready_);
        for (const auto& one : ready_) {
            model::RequestRecord record;
            ASSERT_TRUE(telemetry::decode_record(one.payload, record));
            ASSERT_EQ(record.request_id, std::to_string(next));
            ++next;
        }
        store();
    }
    EXPECT_EQ(next, count);
}

TEST_F(SpoolTest, AWindowOfPagesGoesBeforeWhatIsWritten) {
    auto large = options();
    large.segment_bytes = 2 * Spool::window_bytes;
    large.cap_bytes = 16 * Spool::window_bytes;
    begin(large);
    const auto ends = [this] {
        std::vector<std::size_t> found;
        for (const auto& part : spool().upcoming())
            found.push_back(part.end);
        return found;
    };
    EXPECT_EQ(ends(), std::vector{Spool::window_bytes}) << "nothing is written yet";
    write("first");
    const auto first = spool().upcoming().front();
    const auto place = first.end - Spool::window_bytes;
    EXPECT_GE(place, segment_header_bytes);
    EXPECT_LT(place, max_frame_bytes);
    const auto write_until = [&](std::size_t parts) {
        for (int i = 0; i < 100'000 && ends().size() != parts; ++i)
            write("more");
    };
    write_until(2);
    EXPECT_EQ(ends().front(), large.segment_bytes) << "the rest of the segment";
    EXPECT_GT(ends().back(), 0U);
    EXPECT_LT(ends().back(), Spool::window_bytes / 2) << "and a part of the next";
    EXPECT_EQ(spool().upcoming().front().segment, first.segment);
    write_until(1);
    EXPECT_NE(spool().upcoming().front().segment, first.segment);
    const auto begun = ends();
    EXPECT_LT(begun.front(), Spool::window_bytes + max_frame_bytes) << "a new segment begins with a new window";
    for (int i = 0; i < 100'000 && ends() == begun; ++i)
        write("more");
    EXPECT_LT(ends().front(), begun.front() + Spool::window_bytes / 2) << "which moves on";
}

}  // namespace
}  // namespace weir::ledger
