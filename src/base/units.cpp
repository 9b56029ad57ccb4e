#include "base/units.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace weir::base {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view duration_help = "expected a duration with its unit, such as 250ms, 30s, 5m or 2h";
constexpr std::string_view size_help = "expected a size, such as 64KiB, 32MiB, 1GiB or a number of bytes";
constexpr std::string_view percent_help = "expected a percentage from 0% to 100%, such as 0.5%";
constexpr std::string_view rate_help = "expected a rate, such as 600/min, 2M/min, 400k/min, 10/s, 5000/h or 1M/day";
constexpr std::string_view date_help = "expected a date that exists, such as 2027-06-30";
constexpr std::string_view host_port_help = "expected HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080";

std::unexpected<Error> refuse(std::string_view help) { return fail(ErrorCode::invalid_argument, std::string{help}); }

struct Unit {
    std::string_view name;
    double factor;
};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// A number at the front of text: digits, at most one point with digits on both sides. Takes it off; nullopt when there
// is none.
std::optional<double> take_number(std::string_view& text) noexcept {
    std::size_t length = 0;
    while (length < text.size() && (is_digit(text[length]) || text[length] == '.'))
        ++length;
    const auto digits = text.substr(0, length);
    const bool shape =
        !digits.empty() && is_digit(digits.front()) && is_digit(digits.back()) && std::ranges::count(digits, '.') <= 1;
    double value = 0;
    if (!shape || std::from_chars(digits.data(), digits.data() + length, value).ec != std::errc{}) return std::nullopt;
    text.remove_prefix(length);
    return value;
}

// A number followed by exactly one of the units, as a whole count of the smallest; nullopt for anything else, for
// results that are not whole and for those that doubles cannot hold exactly.
std::optional<std::uint64_t> parse_scaled(std::string_view text, std::span<const Unit> units) noexcept {
    const auto number = take_number(text);
    const auto unit = std::ranges::find(units, text, &Unit::name);
    if (!number || unit == units.end()) return std::nullopt;
    const double scaled = *number * unit->factor;
    const double whole = std::round(scaled);
    constexpr double exact = 9007199254740992.0;  // 2^53
    if (whole > exact || std::abs(scaled - whole) > 1e-9 + scaled * 1e-14) return std::nullopt;
    return static_cast<std::uint64_t>(whole);
}

constexpr std::array duration_units{Unit{"us", 1},  Unit{"ms", 1e3},  Unit{"s", 1e6},
                                    Unit{"m", 6e7}, Unit{"h", 3.6e9}, Unit{"d", 8.64e10}};
constexpr std::array size_units{Unit{"", 1},         Unit{"B", 1},        Unit{"KiB", 0x1p10},
                                Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30}, Unit{"TiB", 0x1p40}};
constexpr std::array amount_units{Unit{"", 1}, Unit{"k", 1e3}, Unit{"M", 1e6}, Unit{"G", 1e9}};

struct Period {
    std::string_view name;
    Nanoseconds length;
};
constexpr std::array periods{Period{"s", 1s}, Period{"min", 1min}, Period{"h", 1h}, Period{"day", 24h}};

// The digits of a whole text as a small number; nullopt for anything else.
std::optional<int> digits_value(std::string_view text) noexcept {
    int value = 0;
    if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} ? std::optional{value} : std::nullopt;
}

bool is_host_character(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_';
}

bool is_ipv6_character(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}

}  // namespace

Result<Nanoseconds> parse_duration(std::string_view text) {
    constexpr auto longest = std::chrono::hours{24 * 366 * 100};
    const auto micros = parse_scaled(text, duration_units);
    if (!micros) return refuse(duration_help);
    const std::chrono::microseconds span{static_cast<std::int64_t>(*micros)};
    if (span > longest) return refuse("expected a duration of at most 100 years");
    return Nanoseconds{span};
}

std::string format_duration(Nanoseconds span) {
    struct Named {
        std::string_view name;
        Nanoseconds length;
    };
    constexpr std::array units{Named{"h", 1h}, Named{"m", 1min}, Named{"s", 1s}, Named{"ms", 1ms}, Named{"us", 1us}};
    if (span == Nanoseconds{0}) return "0s";
    for (const auto& unit : units)
        if (span % unit.length == Nanoseconds{0}) return fmt::format("{}{}", span / unit.length, unit.name);
    return fmt::format("{}ns", span.count());
}

Result<std::uint64_t> parse_size(std::string_view text) {
    const auto bytes = parse_scaled(text, size_units);
    if (!bytes) return refuse(size_help);
    return *bytes;
}

std::string format_size(std::uint64_t bytes) {
    constexpr std::array units{std::string_view{"TiB"}, std::string_view{"GiB"}, std::string_view{"MiB"},
                               std::string_view{"KiB"}};
    unsigned shift = 40;
    for (const auto unit : units) {
        const std::uint64_t factor = 1ULL << shift;
        if (bytes >= factor && bytes % factor == 0) return fmt::format("{}{}", bytes / factor, unit);
        shift -= 10;
    }
    return fmt::format("{}", bytes);
}

Result<double> parse_percent(std::string_view text) {
    const auto number = take_number(text);
    if (!number || text != "%" || *number > 100) return refuse(percent_help);
    return *number / 100;
}

Result<Rate> parse_rate(std::string_view text) {
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return refuse(rate_help);
    const auto amount = parse_scaled(text.substr(0, slash), amount_units);
    const auto period = std::ranges::find(periods, text.substr(slash + 1), &Period::name);
    if (!amount || period == periods.end()) return refuse(rate_help);
    return Rate{.amount = *amount, .period = period->length};
}

std::string format_rate(const Rate& rate) {
    std::string_view suffix;
    std::uint64_t amount = rate.amount;
    for (const std::string_view next : {"k", "M", "G"}) {
        if (amount == 0 || amount % 1000 != 0) break;
        amount /= 1000;
        suffix = next;
    }
    const auto period = std::ranges::find(periods, rate.period, &Period::length);
    const std::string name = period == periods.end() ? format_duration(rate.period) : std::string{period->name};
    return fmt::format("{}{}/{}", amount, suffix, name);
}

Result<std::chrono::sys_days> parse_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return refuse(date_help);
    const auto year = digits_value(text.substr(0, 4));
    const auto month = digits_value(text.substr(5, 2));
    const auto day = digits_value(text.substr(8, 2));
    if (!year || !month || !day) return refuse(date_help);
    const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    // Nanoseconds since 1970 end in 2262.
    if (!date.ok() || *year < 1970 || *year > 2200) return refuse(date_help);
    return std::chrono::sys_days{date};
}

Result<HostPort> parse_host_port(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || text.size() > 300) return refuse(host_port_help);
    auto host = text.substr(0, colon);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    const bool valid_host = bracketed ? host.contains(':') && std::ranges::all_of(host, is_ipv6_character)
                                      : std::ranges::all_of(host, is_host_character);
    const auto port = digits_value(text.substr(colon + 1));
    if (!valid_host || !port) return refuse(host_port_help);
    if (*port > std::numeric_limits<std::uint16_t>::max()) return refuse("expected a port from 0 to 65535");
    return HostPort{.host = std::string{host}, .port = static_cast<std::uint16_t>(*port)};
}

std::string format_host_port(const HostPort& address) {
    const bool ipv6 = address.host.contains(':');
    return ipv6 ? fmt::format("[{}]:{}", address.host, address.port) : fmt::format("{}:{}", address.host, address.port);
}

bool is_loopback(std::string_view host) noexcept {
    if (equals_ignoring_case(host, "localhost") || host == "::1") return true;
    const bool dotted = std::ranges::all_of(host, [](char c) { return is_digit(c) || c == '.'; });
    return dotted && std::ranges::count(host, '.') == 3 && host.starts_with("127.");
}

Result<std::int64_t> parse_integer(std::string_view text) {
    constexpr std::string_view help = "expected a whole number";
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return refuse(help);
    return value;
}

Result<double> parse_number(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    const auto value = take_number(text);
    if (!value || !text.empty()) return refuse("expected a number, such as 2 or 0.5");
    return negative ? -*value : *value;
}

}  // namespace weir::base
