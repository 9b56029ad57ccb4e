#include "base/mapped_allocator.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace weir::base {
namespace {

// Through the size at which blocks begin to come from the system, growing and shrinking.
TEST(MappedAllocator, KeepsWhatAVectorHoldsWhereverItComesFrom) {
    std::vector<std::uint32_t, MappedAllocator<std::uint32_t>> numbers;
    for (std::uint32_t i = 0; i < 1'000'000; ++i)
        numbers.push_back(i);
    EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}), 499'999'500'000U);
    const auto copy = numbers;
    numbers.resize(10);
    numbers.shrink_to_fit();
    EXPECT_EQ(numbers.back(), 9U);
    EXPECT_EQ(copy.back(), 999'999U);
    numbers = copy;
    EXPECT_EQ(numbers, copy);
}

}  // namespace
}  // namespace weir::base
