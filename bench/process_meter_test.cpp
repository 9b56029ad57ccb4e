#include "bench/process_meter.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace weir::bench {
namespace {

using base::Nanoseconds;

TEST(process_meter, reads_the_kernels_texts) {
    EXPECT_EQ(parse_schedstat("123456789 55 3\n"), Nanoseconds{123456789});
    EXPECT_EQ(parse_schedstat(""), Nanoseconds{0});
    EXPECT_EQ(parse_resident("55d4-7ffd ---p 00000000 00:00 0   [rollup]\nRss:                5324 kB\nPss: 1 kB\n"
                             "Pss_Anon: 7 kB\nAnonymous:  4001 kB\nLazyFree: 0 kB\n"),
              (Resident{.all_kib = 5324, .anonymous_kib = 4001}));
    EXPECT_EQ(parse_resident("nothing of the kind\n"), Resident{});
}

TEST(process_meter, difference_counts_new_threads_from_their_beginning_and_drops_ended_ones) {
    const ThreadTimes before{{1, {"main", Nanoseconds{100}}}, {2, {"ended", Nanoseconds{50}}}};
    const ThreadTimes after{{1, {"main", Nanoseconds{130}}}, {3, {"new", Nanoseconds{7}}}};
    const auto used = used_between(before, after);
    ASSERT_EQ(used.size(), 2U);
    EXPECT_EQ(used.at(1).cpu, Nanoseconds{30});
    EXPECT_EQ(used.at(3).cpu, Nanoseconds{7});
    EXPECT_EQ(used.at(3).name, "new");
}

TEST(process_meter, measures_this_process_and_none_that_is_not_there) {
    const std::vector<int> self{::getpid()};
    EXPECT_TRUE(thread_times(self).contains(::getpid()));
    EXPECT_GT(resident_of(self).anonymous_kib, 100U);
    EXPECT_GE(resident_of(self).all_kib, resident_of(self).anonymous_kib);
    const std::vector<int> nobody{-1};
    EXPECT_TRUE(thread_times(nobody).empty());
    EXPECT_EQ(resident_of(nobody), Resident{});
}

}  // namespace
}  // namespace weir::bench
