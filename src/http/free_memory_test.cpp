#include "http/free_memory.h"

#include <gtest/gtest.h>

namespace weir::http {
namespace {

TEST(FreeMemory, LeavesNoAllocationBehind) {
    std::string text(10'000, 'x');
    free_memory(text);
    EXPECT_TRUE(text.empty());
    EXPECT_EQ(text.capacity(), std::string{}.capacity());
}

}  // namespace
}  // namespace weir::http
