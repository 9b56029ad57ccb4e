#include "base/time.h"

#include <cstddef>

namespace weir::base {

Instant monotonic_now() noexcept { return std::chrono::time_point_cast<Nanoseconds>(std::chrono::steady_clock::now()); }

WallTime wall_now() noexcept { return std::chrono::time_point_cast<Nanoseconds>(std::chrono::system_clock::now()); }

namespace {

// Writes the number right-aligned into `digits` characters from `at` on.
void put_digits(std::string& text, std::size_t at, std::size_t digits, std::int64_t number) {
    for (std::size_t i = at + digits; i > at; number /= 10)
        text[--i] = static_cast<char>('0' + number % 10);
}

}  // namespace

// By hand, because every request's record has one.
std::string to_rfc3339(WallTime time) {
    using namespace std::chrono;
    const auto millis = floor<milliseconds>(time);
    const auto day = floor<days>(millis);
    const year_month_day date{day};
    const hh_mm_ss clock{millis - day};
    std::string text = "0000-00-00T00:00:00.000Z";
    put_digits(text, 0, 4, static_cast<int>(date.year()));
    put_digits(text, 5, 2, static_cast<unsigned>(date.month()));
    put_digits(text, 8, 2, static_cast<unsigned>(date.day()));
    put_digits(text, 11, 2, clock.hours().count());
    put_digits(text, 14, 2, clock.minutes().count());
    put_digits(text, 17, 2, clock.seconds().count());
    put_digits(text, 20, 3, clock.subseconds().count());
    return text;
}

}  // namespace weir::base
