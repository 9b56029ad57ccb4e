#include "base/time.h"

#include <fmt/format.h>

namespace weir::base {

Instant monotonic_now() noexcept { return std::chrono::time_point_cast<Nanoseconds>(std::chrono::steady_clock::now()); }

WallTime wall_now() noexcept { return std::chrono::time_point_cast<Nanoseconds>(std::chrono::system_clock::now()); }

std::string to_rfc3339(WallTime time) {
    using namespace std::chrono;
    const auto millis = floor<milliseconds>(time);
    const auto day = floor<days>(millis);
    const year_month_day date{day};
    const hh_mm_ss clock{millis - day};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                       static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                       clock.subseconds().count());
}

}  // namespace weir::base
