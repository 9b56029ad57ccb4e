#include "bench/answers.h"

#include "bench/plan.h"
#include "http/chunk.h"
#include "http/head_parser.h"
#include "http/head_scanner.h"
#include "http/sse.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <vector>

namespace weir::bench {
namespace {

using base::Instant;
using base::Nanoseconds;

struct Parsed {
    http::ResponseHead head;
    std::string body;  // decoded
};

// `bytes` must outlive the result and hold exactly one response.
Parsed parse(std::string_view bytes) {
    const auto end = http::HeadScanner{}.scan(bytes);
    EXPECT_TRUE(end && *end > 0) << bytes;
    auto head = http::parse_response_head(bytes.substr(0, *end), false);
    EXPECT_TRUE(head) << bytes;
    Parsed parsed{.head = std::move(*head), .body = std::string{bytes.substr(*end)}};
    if (parsed.head.framing == http::Framing::chunked) {
        const auto decoded = http::ChunkDecoder{}.decode(parsed.body);
        EXPECT_TRUE(decoded.end) << decoded.fault;
        EXPECT_EQ(decoded.consumed, parsed.body.size());
        parsed.body = std::string{decoded.payload.begin(), decoded.payload.end()};
    } else {
        EXPECT_EQ(parsed.body.size(), parsed.head.content_length);
    }
    return parsed;
}

std::vector<std::string> events_of(std::string body) {
    body.reserve(body.size() + 64);
    http::EventScanner scanner;
    EXPECT_TRUE(scanner.feed(body));
    std::vector<std::string> events;
    while (const auto event = scanner.next())
        events.emplace_back(event->data);
    EXPECT_EQ(scanner.held_bytes(), 0U);
    return events;
}

bool is_json(const std::string& text) {
    simdjson::dom::parser parser;
    return parser.parse(text).error() == simdjson::SUCCESS;
}

TEST(answers, whole_is_a_chat_completion_of_the_announced_size) {
    const Answers answers;
    const auto parsed = parse(answers.whole);
    EXPECT_EQ(parsed.head.status, 200);
    EXPECT_TRUE(is_json(parsed.body)) << parsed.body;
    EXPECT_NEAR(static_cast<double>(parsed.body.size()), 600, 60);
}

TEST(answers, probes_are_answered_in_json) {
    const Answers answers;
    for (const auto& response : {answers.models, answers.version})
        EXPECT_TRUE(is_json(parse(response).body)) << response;
    EXPECT_EQ(parse(answers.healthy).head.status, 200);
    EXPECT_EQ(parse(answers.not_found).head.status, 404);
    EXPECT_EQ(parse(answers.bad_request).head.status, 400);
}

TEST(answers, a_stream_is_well_framed_events_of_json) {
    Answers answers;
    for (const auto& end : {answers.stream_end, answers.stream_end_with_usage}) {
        const Instant sent{Nanoseconds{1234567890123456789}};
        const std::string stream = answers.stream_begin + std::string{answers.stamped(sent)} + answers.burst + end;
        const auto events = events_of(parse(stream).body);
        ASSERT_GT(events.size(), answers.burst_chunks);
        EXPECT_EQ(events.back(), "[DONE]");
        for (std::size_t i = 0; i + 1 < events.size(); ++i)
            EXPECT_TRUE(is_json(events[i])) << events[i];
        EXPECT_FALSE(sent_at(events[0])) << "the role event carries no content";
        EXPECT_EQ(sent_at(events[1]), sent);
        EXPECT_EQ(sent_at(events[2]), Instant{}) << "in a burst nothing is stamped";
        EXPECT_NEAR(static_cast<double>(events[1].size()), 200, 20);
    }
}

TEST(answers, varied_events_differ_in_more_than_their_text) {
    Answers answers;
    const Instant sent{Nanoseconds{42}};
    const std::string first{answers.stamped_and_varied(sent)};
    const std::string second{answers.stamped_and_varied(sent)};
    EXPECT_NE(first, second);
    EXPECT_EQ(first.size(), second.size());
    EXPECT_EQ(answers.stamped(sent), second) << "a stamp alone changes nothing else";
}

}  // namespace
}  // namespace weir::bench
