// Numbers with units, as people write them in the configuration and on the command line.
// Every parser takes the whole text (no spaces around it) and fails with invalid_argument and a message that says what
// is accepted; messages never quote the text, so they are safe for secrets. Pure functions.
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::base {

// "250ms", "30s", "1.5s", "5m", "2h", "7d". A unit is always needed.
[[nodiscard]] Result<Nanoseconds> parse_duration(std::string_view text);
// The shortest exact form: "1500ms", "30s", "2h".
[[nodiscard]] std::string format_duration(Nanoseconds span);

// "4096", "512B", "64KiB", "32MiB", "1GiB", "2TiB", in bytes.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);
[[nodiscard]] std::string format_size(std::uint64_t bytes);

// "0.5%" is the fraction 0.005. 0%..100%.
[[nodiscard]] Result<double> parse_percent(std::string_view text);

// An amount per period: "600/min", "2M/min", "1.5k/s", "10/h", "1G/day".
struct Rate {
    std::uint64_t amount = 0;
    Nanoseconds period{std::chrono::minutes{1}};
    [[nodiscard]] double per_second() const noexcept { return static_cast<double>(amount) / to_seconds(period); }
    friend bool operator==(const Rate&, const Rate&) = default;
};
[[nodiscard]] Result<Rate> parse_rate(std::string_view text);
[[nodiscard]] std::string format_rate(const Rate& rate);

// "2027-06-30"; only days that exist.
[[nodiscard]] Result<std::chrono::sys_days> parse_date(std::string_view text);

// "127.0.0.1:8080", "[::1]:8080", "weir.example:443". The host has no brackets; port 0 is allowed (the system chooses).
struct HostPort {
    std::string host;
    std::uint16_t port = 0;
    friend bool operator==(const HostPort&, const HostPort&) = default;
};
[[nodiscard]] Result<HostPort> parse_host_port(std::string_view text);
// Brackets around IPv6 addresses.
[[nodiscard]] std::string format_host_port(const HostPort& address);
// 127.0.0.0/8, ::1 or "localhost".
[[nodiscard]] bool is_loopback(std::string_view host) noexcept;

// Whole decimal numbers and decimal fractions without exponent, sign only where negative makes sense.
[[nodiscard]] Result<std::int64_t> parse_integer(std::string_view text);
[[nodiscard]] Result<double> parse_number(std::string_view text);

}  // namespace weir::base
