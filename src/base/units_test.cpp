#include "base/units.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace weir::base {
namespace {

using namespace std::chrono_literals;

template <class T>
struct Case {
    std::string_view text;
    std::optional<T> expected;  // nullopt = refused
};

template <class T, class Parse>
void expect_all(const std::vector<Case<T>>& cases, Parse parse, std::string_view help) {
    for (const auto& [text, expected] : cases) {
        const auto got = parse(text);
        EXPECT_EQ(got.has_value(), expected.has_value()) << text;
        if (got && expected) EXPECT_EQ(*got, *expected) << text;
        if (got || expected) continue;
        EXPECT_EQ(got.error().code(), ErrorCode::invalid_argument) << text;
        EXPECT_TRUE(got.error().message().contains(help)) << text << ": " << got.error().message();
    }
}

TEST(Units, Durations) {
    expect_all<Nanoseconds>({{"250ms", 250ms},
                             {"30s", 30s},
                             {"1.5s", 1500ms},
                             {"5m", 5min},
                             {"2h", 2h},
                             {"7d", 168h},
                             {"0s", 0s},
                             {"1.1h", 66min},
                             {"10us", 10us}},
                            parse_duration, "");
    expect_all<Nanoseconds>({{"", {}},
                             {"30", {}},
                             {"s", {}},
                             {"30 s", {}},
                             {"-1s", {}},
                             {"1h30m", {}},
                             {".5s", {}},
                             {"1.s", {}},
                             {"1e3s", {}},
                             {"30S", {}},
                             {"0x1s", {}},
                             {"inf", {}},
                             {"nan", {}},
                             {"99999999999999999999999h", {}},
                             {"0.1us", {}},
                             {"1..2s", {}}},
                            parse_duration, "expected a duration");
    expect_all<Nanoseconds>({{"99999d", {}}}, parse_duration, "at most 100 years");
}

TEST(Units, DurationsFormatToTheShortestExactForm) {
    EXPECT_EQ(format_duration(90s), "90s");
    EXPECT_EQ(format_duration(120s), "2m");
    EXPECT_EQ(format_duration(1500ms), "1500ms");
    EXPECT_EQ(format_duration(0s), "0s");
    EXPECT_EQ(format_duration(1ns), "1ns");
}

TEST(Units, Sizes) {
    expect_all<std::uint64_t>({{"4096", 4096},
                               {"0", 0},
                               {"512B", 512},
                               {"64KiB", 65536},
                               {"32MiB", 33554432},
                               {"1GiB", 1ULL << 30U},
                               {"1.5GiB", 3ULL << 29U},
                               {"192GiB", 192ULL << 30U}},
                              parse_size, "");
    expect_all<std::uint64_t>({{"", {}},
                               {"32MB", {}},
                               {"32mib", {}},
                               {"-1", {}},
                               {"1.1GiB", {}},
                               {"1 KiB", {}},
                               {"KiB", {}},
                               {"9999999999999TiB", {}}},
                              parse_size, "such as 64KiB");
    EXPECT_EQ(format_size(32ULL << 20U), "32MiB");
    EXPECT_EQ(format_size(1025), "1025");
    EXPECT_EQ(format_size(0), "0");
}

TEST(Units, Percentages) {
    expect_all<double>({{"0.5%", 0.005}, {"0%", 0.0}, {"100%", 1.0}}, parse_percent, "");
    expect_all<double>({{"0.5", {}}, {"101%", {}}, {"-1%", {}}, {"%", {}}, {"", {}}, {"5 %", {}}}, parse_percent,
                       "from 0% to 100%");
}

TEST(Units, Rates) {
    const Rate per_minute{.amount = 600, .period = 1min};
    expect_all<Rate>({{"600/min", per_minute},
                      {"2M/min", Rate{2'000'000, 1min}},
                      {"400k/min", Rate{400'000, 1min}},
                      {"1.5k/s", Rate{1500, 1s}},
                      {"10/h", Rate{10, 1h}},
                      {"1G/day", Rate{1'000'000'000, 24h}}},
                     parse_rate, "");
    expect_all<Rate>(
        {{"600", {}}, {"/min", {}}, {"600/", {}}, {"600/minute", {}}, {"1.5/s", {}}, {"600/min/s", {}}, {"2m/min", {}}},
        parse_rate, "expected a rate");
    EXPECT_DOUBLE_EQ(per_minute.per_second(), 10.0);
    EXPECT_EQ(format_rate({400'000, 1min}), "400k/min");
    EXPECT_EQ(format_rate({1500, 24h}), "1500/day");
}

TEST(Units, Dates) {
    using std::chrono::sys_days, std::chrono::year, std::chrono::June, std::chrono::February;
    expect_all<sys_days>(
        {{"2027-06-30", sys_days{year{2027} / June / 30}}, {"2028-02-29", sys_days{year{2028} / February / 29}}},
        parse_date, "");
    expect_all<sys_days>({{"2027-02-29", {}},
                          {"2027-6-30", {}},
                          {"2027-13-01", {}},
                          {"2027/06/30", {}},
                          {"", {}},
                          {"1969-01-01", {}},
                          {"2201-01-01", {}},
                          {"2027-06-30T00:00:00Z", {}},
                          {"20-7-06-300", {}}},
                         parse_date, "2027-06-30");
}

TEST(Units, HostPorts) {
    expect_all<HostPort>({{"127.0.0.1:8080", HostPort{"127.0.0.1", 8080}},
                          {"[::1]:80", HostPort{"::1", 80}},
                          {"weir.example:0", HostPort{"weir.example", 0}}},
                         parse_host_port, "");
    expect_all<HostPort>({{"127.0.0.1", {}},
                          {":80", {}},
                          {"::1:80", {}},
                          {"[::1]", {}},
                          {"h:", {}},
                          {"h:-1", {}},
                          {"h h:1", {}},
                          {"http://h:1", {}},
                          {"[h]:1", {}},
                          {"[]:1", {}}},
                         parse_host_port, "HOST:PORT");
    expect_all<HostPort>({{"h:65536", {}}}, parse_host_port, "0 to 65535");
    EXPECT_EQ(format_host_port({"::1", 80}), "[::1]:80");
    EXPECT_EQ(format_host_port({"h", 80}), "h:80");
}

TEST(Units, Loopback) {
    for (const std::string_view host : {"127.0.0.1", "127.1.2.3", "::1", "localhost"})
        EXPECT_TRUE(is_loopback(host)) << host;
    for (const std::string_view host : {"0.0.0.0", "::", "10.0.0.1", "127.evil.example.com", "127.0.0.evil"})
        EXPECT_FALSE(is_loopback(host)) << host;
}

TEST(Units, PlainNumbers) {
    expect_all<std::int64_t>({{"0", 0}, {"-7", -7}, {"9223372036854775807", INT64_MAX}}, parse_integer, "");
    expect_all<std::int64_t>({{"", {}}, {"1.0", {}}, {"+1", {}}, {"1k", {}}, {"9223372036854775808", {}}},
                             parse_integer, "whole number");
    expect_all<double>({{"0.5", 0.5}, {"2", 2.0}, {"-1.25", -1.25}}, parse_number, "");
    expect_all<double>({{"", {}}, {"1e5", {}}, {"nan", {}}, {"--1", {}}, {"1,5", {}}}, parse_number,
                       "expected a number");
}

}  // namespace
}  // namespace weir::base
