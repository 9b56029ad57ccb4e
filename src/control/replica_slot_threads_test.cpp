// Slots are shared by threads, which the tests of the pure core do not start; so these stand here.
#include "routing/replica_slot.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace weir::routing {
namespace {

TEST(ReplicaSlotThreads, ALimitIsKeptAmongThreads) {
    ReplicaSlot slot;
    constexpr std::uint32_t limit = 3;
    std::atomic<std::uint32_t> most{0};
    std::atomic<int> taken{0};
    const auto work = [&] {
        for (int round = 0; round < 20000; ++round) {
            const auto lease = slot.try_acquire(limit);
            if (!lease.has_value()) continue;
            ++taken;
            std::uint32_t seen = most.load();
            while (seen < lease->before() + 1 && !most.compare_exchange_weak(seen, lease->before() + 1)) {}
        }
    };
    {
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int index = 0; index < 4; ++index)
            threads.emplace_back(work);
    }
    EXPECT_LE(most.load(), limit);
    EXPECT_GT(taken.load(), 0);
    EXPECT_EQ(slot.in_flight(), 0U);
}

}  // namespace
}  // namespace weir::routing
