#include "io/watch_table.h"

#include <gtest/gtest.h>

namespace weir::io {
namespace {

struct Source final : EventSource {
    void on_events(std::uint32_t) noexcept override {}
};

TEST(WatchTable, finds_a_watcher_by_its_token) {
    WatchTable table;
    Source first;
    Source second;
    const auto first_token = table.add(first);
    const auto second_token = table.add(second);
    EXPECT_EQ(table.find(first_token), &first);
    EXPECT_EQ(table.find(second_token), &second);
    EXPECT_EQ(table.size(), 2U);
}

TEST(WatchTable, a_token_is_stale_once_its_watcher_left_even_when_the_slot_is_used_again) {
    WatchTable table;
    Source old;
    Source fresh;
    const auto stale = table.add(old);
    table.remove(stale);
    EXPECT_EQ(table.find(stale), nullptr);
    const auto token = table.add(fresh);
    EXPECT_EQ(static_cast<std::uint32_t>(token), static_cast<std::uint32_t>(stale)) << "the slot is used again";
    EXPECT_EQ(table.find(stale), nullptr);
    EXPECT_EQ(table.find(token), &fresh);
}

TEST(WatchTable, reuses_slots_instead_of_growing) {
    WatchTable table;
    Source source;
    for (int round = 0; round < 1000; ++round)
        table.remove(table.add(source));
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(static_cast<std::uint32_t>(table.add(source)), 0U);
}

TEST(WatchTable, does_not_find_what_was_never_there) {
    const WatchTable table;
    EXPECT_EQ(table.find(0), nullptr);
    EXPECT_EQ(table.find(~std::uint64_t{0}), nullptr);
}

}  // namespace
}  // namespace weir::io
