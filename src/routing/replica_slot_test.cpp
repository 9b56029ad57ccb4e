#include "routing/replica_slot.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace weir::routing {
namespace {

using namespace std::chrono_literals;

TEST(ReplicaSlot, CountsLeasesAndGivesEachBackOnce) {
    ReplicaSlot slot;
    {
        const InFlight first = slot.acquire();
        EXPECT_EQ(first.before(), 0U);
        InFlight second = slot.acquire();
        EXPECT_EQ(second.before(), 1U);
        EXPECT_EQ(slot.in_flight(), 2U);
        second.release();
        second.release();
        EXPECT_FALSE(second.held());
        EXPECT_EQ(slot.in_flight(), 1U);
    }
    EXPECT_EQ(slot.in_flight(), 0U);
}

TEST(ReplicaSlot, MovingALeaseMovesItsCount) {
    ReplicaSlot slot;
    ReplicaSlot other;
    InFlight lease = slot.acquire();
    InFlight moved{std::move(lease)};
    EXPECT_EQ(slot.in_flight(), 1U);
    EXPECT_TRUE(moved.held());
    moved = other.acquire();  // the old one is given back
    EXPECT_EQ(slot.in_flight(), 0U);
    EXPECT_EQ(other.in_flight(), 1U);
    InFlight& same = moved;
    moved = std::move(same);
    EXPECT_EQ(other.in_flight(), 1U);
    moved = InFlight{};
    EXPECT_EQ(other.in_flight(), 0U);
}

TEST(ReplicaSlot, ALimitIsKept) {
    ReplicaSlot slot;
    const auto first = slot.try_acquire(1);
    ASSERT_TRUE(first.has_value());
    EXPECT_FALSE(slot.try_acquire(1).has_value());
    EXPECT_TRUE(slot.try_acquire(2).has_value());
    EXPECT_TRUE(slot.try_acquire(0).has_value()) << "0 is no limit";
}

TEST(ReplicaSlot, IsUsableUntilAProbeSaysOtherwise) {
    ReplicaSlot slot;
    EXPECT_TRUE(slot.usable());
    EXPECT_FALSE(slot.last_probe().has_value());
    const base::Instant now{5s};
    const std::vector<std::pair<Health, bool>> states{
        {Health::healthy, true}, {Health::unhealthy, false}, {Health::loading, false}, {Health::unknown, true}};
    for (const auto& [health, usable] : states) {
        slot.publish(health, now);
        EXPECT_EQ(slot.usable(), usable) << name_of(health);
        EXPECT_EQ(slot.health(), health);
        EXPECT_EQ(slot.last_probe(), now);
    }
}

TEST(ReplicaSlot, DoesNotShareACacheLine) {
    EXPECT_EQ(alignof(ReplicaSlot), 64U);
    EXPECT_EQ(sizeof(ReplicaSlot) % 64, 0U);
}

}  // namespace
}  // namespace weir::routing
