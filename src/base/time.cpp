#include "base/time.h"

#include <cstring>

namespace weir::base {

Instant monotonic_now() noexcept { return std::chrono::time_point_cast<Nanoseconds>(std::chrono::steady_clock::now()); }

WallTime wall_now() noexcept { return std::chrono::time_point_cast<Nanoseconds>(std::chrono::system_clock::now()); }

namespace {

// Writes the number right-aligned into `digits` characters.
void put_digits(char* out, std::size_t digits, std::uint32_t number) noexcept {
    for (std::size_t i = digits; i > 0; number /= 10)
        out[--i] = static_cast<char>('0' + number % 10);
}

}  // namespace

// By hand, because every request's record has one.
void put_rfc3339(WallTime time, std::span<char, rfc3339_bytes> out) noexcept {
    using namespace std::chrono;
    const auto millis = floor<milliseconds>(time);
    const auto day = floor<days>(millis);
    const year_month_day date{day};
    const auto of_day = static_cast<std::uint32_t>((millis - day).count());
    std::memcpy(out.data(), "0000-00-00T00:00:00.000Z", rfc3339_bytes);
    put_digits(out.data(), 4, static_cast<std::uint32_t>(static_cast<int>(date.year())));
    put_digits(out.data() + 5, 2, static_cast<unsigned>(date.month()));
    put_digits(out.data() + 8, 2, static_cast<unsigned>(date.day()));
    put_digits(out.data() + 11, 2, of_day / 3'600'000);
    put_digits(out.data() + 14, 2, of_day / 60'000 % 60);
    put_digits(out.data() + 17, 2, of_day / 1000 % 60);
    put_digits(out.data() + 20, 3, of_day % 1000);
}

std::string to_rfc3339(WallTime time) {
    std::string text(rfc3339_bytes, '0');
    put_rfc3339(time, std::span<char, rfc3339_bytes>{text});
    return text;
}

}  // namespace weir::base
