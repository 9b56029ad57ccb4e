#include "bench/samples.h"

#include <gtest/gtest.h>

namespace weir::bench {
namespace {

using base::Nanoseconds;

TEST(samples, percentiles_are_nearest_ranks) {
    struct Case {
        int count;  // the samples are count, count - 1 ... 1
        double percent;
        int expected;
    };
    const Case cases[] = {{1, 50, 1},  {1, 99, 1},   {2, 50, 1},    {2, 51, 2},      {3, 50, 2},      {10, 50, 5},
                          {10, 90, 9}, {10, 99, 10}, {100, 99, 99}, {100, 100, 100}, {1000, 99, 990}, {1000, 0.01, 1}};
    for (const auto& example : cases) {
        Samples samples;
        for (int i = example.count; i > 0; --i)
            samples.add(Nanoseconds{i});
        EXPECT_EQ(samples.percentile(example.percent), Nanoseconds{example.expected})
            << example.percent << " % of " << example.count;
    }
}

TEST(samples, without_any_are_zero_and_can_be_filled_again) {
    Samples samples;
    EXPECT_EQ(samples.percentile(50), Nanoseconds{0});
    samples.add(Nanoseconds{7});
    samples.clear();
    EXPECT_EQ(samples.count(), 0U);
    samples.add(Nanoseconds{9});
    EXPECT_EQ(samples.percentile(50), Nanoseconds{9});
}

}  // namespace
}  // namespace weir::bench
