#include "base/time.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace weir::base {
namespace {

TEST(Rfc3339, IsUtcWithMilliseconds) {
    const std::vector<std::pair<std::int64_t, std::string>> cases{
        {0, "1970-01-01T00:00:00.000Z"},
        {1'796'000'000'123, "2026-11-30T00:53:20.123Z"},
        {951'782'399'999, "2000-02-28T23:59:59.999Z"},
        {951'782'400'000, "2000-02-29T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {4'102'444'800'007, "2100-01-01T00:00:00.007Z"},
    };
    for (const auto& [millis, text] : cases)
        EXPECT_EQ(to_rfc3339(WallTime{std::chrono::milliseconds{millis}}), text);
}

TEST(Rfc3339, CutsBelowTheMillisecond) {
    EXPECT_EQ(to_rfc3339(WallTime{std::chrono::nanoseconds{1'999'999}}), "1970-01-01T00:00:00.001Z");
}

}  // namespace
}  // namespace weir::base
