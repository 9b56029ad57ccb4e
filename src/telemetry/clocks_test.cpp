#include "telemetry/clocks.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace weir::telemetry {
namespace {

using std::chrono::milliseconds;

base::Instant at(int ms) { return base::Instant{} + std::chrono::hours{1} + milliseconds{ms}; }

// A stream: body read at 10, first attempt at 12, first output read at 100 and sent at 103, last sent at 303, end at
// 305.
Moments stream_moments() {
    return {.began = at(0),
            .last_request_byte = at(10),
            .dispatched = at(12),
            .attempt_began = at(12),
            .upstream_first = at(100),
            .first_output_sent = at(103),
            .first_visible_sent = at(103),
            .last_output_sent = at(303),
            .last_upstream_byte = at(304),
            .tokens_in_first_event = 1};
}

struct Expected {
    std::optional<double> queue = 0;
    std::optional<double> ttft = 93;
    std::optional<double> upstream_ttft = 88;
    std::optional<double> first_visible = 93;
    std::optional<double> tpot = 20;  // 200 ms for 10 tokens after the first
    double duration = 305;
    std::optional<double> gateway = 3;  // 2 before the attempt, 1 after the last upstream byte
};

struct ClockCase {
    std::string name;
    Moments moments = stream_moments();
    bool stream = true;
    std::optional<std::uint64_t> completion_tokens = 11;
    model::UsageSource usage = model::UsageSource::engine;
    Expected expected{};
};
void PrintTo(const ClockCase& wanted, std::ostream* out) { *out << wanted.name; }

class ClockTest : public testing::TestWithParam<ClockCase> {};

TEST_P(ClockTest, GivesTheDocumentedLatencies) {
    const auto& [name, moments, stream, completion_tokens, usage, expected] = GetParam();
    model::RequestRecord record;
    record.stream = stream;
    record.completion_tokens = completion_tokens;
    record.usage_source = usage;
    close_clocks(moments, at(305), record);
    EXPECT_EQ(record.queue_ms, expected.queue);
    EXPECT_EQ(record.ttft_ms, expected.ttft);
    EXPECT_EQ(record.upstream_ttft_ms, expected.upstream_ttft);
    EXPECT_EQ(record.first_visible_ms, expected.first_visible);
    EXPECT_EQ(record.tpot_ms, expected.tpot);
    EXPECT_EQ(record.duration_ms, expected.duration);
    EXPECT_EQ(record.gateway_ms, expected.gateway);
}

ClockCase with(std::string name, void (*change)(ClockCase&)) {
    ClockCase made{.name = std::move(name)};
    change(made);
    return made;
}

std::vector<ClockCase> clock_cases() {
    return {
        {.name = "a_stream"},
        with("nothing_of_a_stream_for_a_whole_answer",
             [](ClockCase& c) {
                 c.stream = false;
                 c.expected = {.ttft = {}, .upstream_ttft = {}, .first_visible = {}, .tpot = {}};
             }),
        with("P017_hidden_reasoning_comes_first",
             [](ClockCase& c) {
                 c.moments.first_visible_sent = at(210);
                 c.expected.first_visible = 200;
             }),
        with("a_tool_call_shows_nothing",
             [](ClockCase& c) {
                 c.moments.first_visible_sent.reset();
                 c.expected.first_visible.reset();
             }),
        with("P018_the_failed_attempt_is_in_ttft_but_not_in_the_upstreams",
             [](ClockCase& c) {
                 c.moments.attempt_began = at(60);
                 c.expected.upstream_ttft = 40;
             }),
        with("ended_before_any_output",
             [](ClockCase& c) {
                 c.moments.upstream_first.reset();
                 c.moments.first_output_sent.reset();
                 c.moments.first_visible_sent.reset();
                 c.moments.last_output_sent.reset();
                 c.expected.ttft = c.expected.upstream_ttft = c.expected.first_visible = c.expected.tpot = std::nullopt;
             }),
        with("refused_before_any_attempt",
             [](ClockCase& c) {
                 c.moments = {.began = at(0), .last_request_byte = at(10)};
                 c.expected = {
                     .queue = {}, .ttft = {}, .upstream_ttft = {}, .first_visible = {}, .tpot = {}, .gateway = {}};
             }),
        with("P017_output_read_but_the_client_was_gone",
             [](ClockCase& c) {
                 c.moments.first_output_sent.reset();
                 c.moments.first_visible_sent.reset();
                 c.moments.last_output_sent.reset();
                 c.expected.ttft = c.expected.upstream_ttft = c.expected.first_visible = c.expected.tpot = std::nullopt;
             }),
        with("the_first_event_of_speculation_carries_three",
             [](ClockCase& c) {
                 c.moments.tokens_in_first_event = 3;
                 c.expected.tpot = 25;
             }),
        with("no_tpot_when_the_first_event_is_not_known",
             [](ClockCase& c) {
                 c.moments.tokens_in_first_event.reset();
                 c.expected.tpot.reset();
             }),
        with("no_tpot_when_all_tokens_were_in_the_first_event",
             [](ClockCase& c) {
                 c.completion_tokens = 1;
                 c.expected.tpot.reset();
             }),
        with("no_tpot_when_the_engine_told_fewer_than_the_first_event",
             [](ClockCase& c) {
                 c.completion_tokens = 0;
                 c.expected.tpot.reset();
             }),
        with("no_tpot_without_a_count",
             [](ClockCase& c) {
                 c.completion_tokens.reset();
                 c.usage = model::UsageSource::none;
                 c.expected.tpot.reset();
             }),
        with("no_tpot_from_an_estimate",
             [](ClockCase& c) {
                 c.usage = model::UsageSource::estimate;
                 c.expected.tpot.reset();
             }),
        with("the_queue_is_neither_upstream_nor_gateway",
             [](ClockCase& c) {
                 c.moments.queue_entered = at(11);
                 c.moments.queue_left = at(51);
                 c.moments.dispatched = at(52);
                 c.expected.queue = 40;
                 c.expected.gateway = 3;
             }),
        with("moments_in_the_wrong_order_give_no_negative_span",
             [](ClockCase& c) {
                 c.moments.last_request_byte = at(104);
                 c.moments.first_visible_sent = at(102);
                 c.expected.ttft = c.expected.first_visible = 0;
                 c.expected.gateway = 0;
             }),
    };
}

INSTANTIATE_TEST_SUITE_P(Clocks, ClockTest, testing::ValuesIn(clock_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(SplitTime, AddsUpToTheTimeSinceTheLastRequestByte) {
    auto moments = stream_moments();
    moments.queue_entered = at(11);
    moments.queue_left = at(12);
    const auto split = split_time(moments, at(305));
    EXPECT_EQ(split.queue + split.upstream + split.gateway, milliseconds{295});
    EXPECT_EQ(split.queue, milliseconds{1});
}

TEST(SplitTime, AnUpstreamThatIsStillExpectedCountsUntilNow) {
    auto moments = stream_moments();
    moments.last_upstream_byte.reset();
    const auto split = split_time(moments, at(101));
    EXPECT_EQ(split.upstream, milliseconds{89});
    EXPECT_EQ(split.gateway, milliseconds{2});
}

TEST(SplitTime, AQueueThatIsNotLeftCountsUntilNow) {
    const Moments moments{.began = at(0), .last_request_byte = at(0), .queue_entered = at(1)};
    EXPECT_EQ(split_time(moments, at(30)).queue, milliseconds{29});
}

TEST(ServerTiming, TellsMillisecondsCutToATenth) {
    using std::chrono::microseconds;
    EXPECT_EQ(server_timing({}).view(), "queue;dur=0.0, upstream;dur=0.0, gateway;dur=0.0");
    EXPECT_EQ(server_timing({.queue = microseconds{99}, .upstream = microseconds{12'350}, .gateway = microseconds{200}})
                  .view(),
              "queue;dur=0.0, upstream;dur=12.3, gateway;dur=0.2");
}

}  // namespace
}  // namespace weir::telemetry
