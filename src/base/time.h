// Time: two clocks that must not be mixed. Instant measures (monotonic); WallTime is written in records.
// Pure code takes either as an argument; only shells read them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weir::base {

using Nanoseconds = std::chrono::nanoseconds;
using Instant = std::chrono::time_point<std::chrono::steady_clock, Nanoseconds>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Nanoseconds>;

// An instant that never comes: "no deadline". Only for waits that are bounded by something else.
inline constexpr Instant never = Instant::max();

[[nodiscard]] Instant monotonic_now() noexcept;
[[nodiscard]] WallTime wall_now() noexcept;

// RFC 3339 in UTC with milliseconds: "2026-11-30T06:04:40.123Z".
[[nodiscard]] std::string to_rfc3339(WallTime time);
inline constexpr std::size_t rfc3339_bytes = 24;
// The same into a buffer that exists.
void put_rfc3339(WallTime time, std::span<char, rfc3339_bytes> out) noexcept;

[[nodiscard]] constexpr double to_ms(Nanoseconds span) noexcept { return static_cast<double>(span.count()) / 1e6; }
[[nodiscard]] constexpr double to_seconds(Nanoseconds span) noexcept { return static_cast<double>(span.count()) / 1e9; }

}  // namespace weir::base
