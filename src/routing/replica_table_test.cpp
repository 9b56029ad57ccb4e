#include "routing/replica_table.h"

#include <gtest/gtest.h>

namespace weir::routing {
namespace {

TEST(ReplicaTable, TheSameReplicaKeepsItsSlotAcrossReloads) {
    ReplicaTable table;
    auto old_snapshot = table.slot("ar", "http://10.0.0.1:8000");
    InFlight lease = old_snapshot->acquire();
    old_snapshot->publish(Health::unhealthy, {});
    const auto new_snapshot = table.slot("ar", "http://10.0.0.1:8000");
    old_snapshot.reset();
    EXPECT_EQ(new_snapshot->in_flight(), 1U);
    EXPECT_FALSE(new_snapshot->usable());
    EXPECT_EQ(table.size(), 1U);
    lease.release();
    EXPECT_EQ(new_snapshot->in_flight(), 0U);
}

TEST(ReplicaTable, PoolAndUrlTogetherNameAReplica) {
    ReplicaTable table;
    const auto ar = table.slot("ar", "http://10.0.0.1:8000");
    const auto eagle = table.slot("eagle", "http://10.0.0.1:8000");
    const auto other = table.slot("ar", "http://10.0.0.2:8000");
    EXPECT_NE(ar, eagle);
    EXPECT_NE(ar, other);
    EXPECT_EQ(table.size(), 3U);
}

TEST(ReplicaTable, AReplicaThatNobodyNamesIsForgotten) {
    ReplicaTable table;
    auto gone = table.slot("ar", "http://10.0.0.1:8000");
    gone->publish(Health::unhealthy, {});
    gone.reset();
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(table.slot("ar", "http://10.0.0.1:8000")->health(), Health::unknown);
}

}  // namespace
}  // namespace weir::routing
