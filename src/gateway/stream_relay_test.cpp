#include "gateway/stream_relay.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <array>

namespace weir::gateway {
namespace {

constexpr std::array<std::string_view, 2> hidden{"timings", "system_fingerprint"};

const std::string role =
    R"(data: {"model":"r","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]})"
    "\n\n";
const std::string hello =
    R"(data: {"model":"r","choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}]})"
    "\n\n";
const std::string finish =
    R"(data: {"model":"r","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"timings":{"predicted_n":3}})"
    "\n\n";
const std::string usage = R"(data: {"model":"r","choices":[],"usage":{"prompt_tokens":4,"completion_tokens":3}})"
                          "\n\n";
const std::string done = "data: [DONE]\n\n";
const std::string error = R"(data: {"error":{"message":"boom","code":500}})"
                          "\n\n";

std::string seen_by_client(std::string text) {
    for (std::size_t at; (at = text.find("\"r\"")) != std::string::npos;)
        text.replace(at, 3, "\"alias\"");
    for (const std::string_view gone : {R"(,"timings":{"predicted_n":3})"})
        if (const auto at = text.find(gone); at != std::string::npos) text.erase(at, gone.size());
    return text;
}

struct Relayed {
    std::string sent;
    RelayVerdict last{};
    RelayVerdict at_end{};
};

Relayed relay(StreamRelay& stream, std::string_view text, std::size_t piece) {
    Relayed result;
    for (std::size_t at = 0; at < text.size(); at += piece) {
        std::string part{text.substr(at, piece)};
        const std::size_t size = part.size();
        part.append(64, '\0');
        result.last = stream.feed({part.data(), size});
        result.sent += joined(stream.slices());
        if (result.last == RelayVerdict::failed || result.last == RelayVerdict::protocol) return result;
    }
    result.at_end = stream.end();
    result.sent += joined(stream.slices());
    return result;
}

RelayPolicy policy() {
    RelayPolicy value;
    value.answer = {.alias_json = "\"alias\"", .private_members = hidden};
    return value;
}

TEST(StreamRelay, AnySplitOfTheBytesGivesTheClientTheSame) {
    const std::string text = role + ": ping\n\n" + hello + finish + done;
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
        RelayScratch scratch;
        StreamRelay stream{scratch, policy()};
        const auto result = relay(stream, text, piece);
        EXPECT_EQ(result.sent, seen_by_client(text)) << piece;
        EXPECT_EQ(result.at_end, RelayVerdict::complete) << piece;
        EXPECT_EQ(stream.usage().completion_tokens, 3U);
        EXPECT_EQ(stream.finish_reason(), "stop");
    }
}

TEST(StreamRelay, NothingLeavesBeforeTheFirstOutput) {
    RelayScratch scratch;
    StreamRelay stream{scratch, policy()};
    std::string bytes = role + ": ping\n\n";
    const std::size_t size = bytes.size();
    bytes.append(64, '\0');
    EXPECT_EQ(stream.feed({bytes.data(), size}), RelayVerdict::more);
    EXPECT_TRUE(stream.slices().empty());
    EXPECT_FALSE(stream.committed());
}

struct EndCase {
    const char* name;
    std::string text;
    RelayVerdict at_end;
    bool committed;
};

TEST(StreamRelay, KnowsACompleteStreamFromATruncatedOne) {
    const EndCase cases[] = {
        {"finish reason and done", role + hello + finish + done, RelayVerdict::complete, true},
        {"finish reason without done", role + hello + finish, RelayVerdict::complete, true},
        {"done without finish reason", role + hello + done, RelayVerdict::complete, true},
        {"cut after output", role + hello, RelayVerdict::more, true},
        {"cut before output", role, RelayVerdict::more, false},
        {"nothing at all", "", RelayVerdict::more, false},
        {"no text, but a finish reason", role + finish, RelayVerdict::complete, true},
        {"one of two choices finished",
         role +
             R"(data: {"choices":[{"index":1,"delta":{"content":"x"}}]})"
             "\n\n" +
             finish,
         RelayVerdict::more, true},
        {"last event without its blank line", role + hello + "data: [DONE]", RelayVerdict::complete, true},
    };
    for (const auto& c : cases) {
        RelayScratch scratch;
        StreamRelay stream{scratch, policy()};
        EXPECT_EQ(relay(stream, c.text, 1000000).at_end, c.at_end) << c.name;
        EXPECT_EQ(stream.committed(), c.committed) << c.name;
    }
}

TEST(StreamRelay, HidesTheUsageEventOnlyWhenWeirAskedForIt) {
    for (const bool hide : {true, false}) {
        RelayScratch scratch;
        auto rules = policy();
        rules.hide_usage_event = hide;
        StreamRelay stream{scratch, rules};
        const auto result = relay(stream, role + hello + finish + usage + done, 50);
        EXPECT_EQ(result.sent, seen_by_client(role + hello + finish + (hide ? "" : usage) + done));
        EXPECT_EQ(stream.usage().prompt_tokens, 4U);
    }
}

TEST(StreamRelay, AnErrorEventStopsTheStreamAndIsKeptForTheReply) {
    for (const auto& before : {std::string{}, role, role + hello}) {
        RelayScratch scratch;
        StreamRelay stream{scratch, policy()};
        const auto result = relay(stream, before + error + done, 1000000);
        EXPECT_EQ(result.last, RelayVerdict::failed);
        EXPECT_EQ(result.sent, before == role + hello ? seen_by_client(before) : "");
        EXPECT_EQ(stream.engine_error(), R"({"error":{"message":"boom","code":500}})");
        EXPECT_FALSE(stream.complete());
    }
}

TEST(StreamRelay, AChoiceThatNeverBeganIsMissing) {
    for (const std::uint64_t choices : {1U, 2U}) {
        RelayScratch scratch;
        auto rules = policy();
        rules.choices = choices;
        StreamRelay stream{scratch, rules};
        EXPECT_EQ(relay(stream, role + hello + finish, 50).at_end,
                  choices == 1 ? RelayVerdict::complete : RelayVerdict::more);
    }
}

TEST(StreamRelay, NothingBehindDoneIsRead) {
    RelayScratch scratch;
    StreamRelay stream{scratch, policy()};
    const auto result = relay(stream, role + hello + finish + done + error + hello, 1000000);
    EXPECT_EQ(result.sent, seen_by_client(role + hello + finish + done));
    EXPECT_EQ(result.at_end, RelayVerdict::complete);
}

TEST(StreamRelay, WhatIsNotAJsonObjectIsAProtocolFault) {
    for (const std::string bad : {"data: hello\n\n", "data: [1]\n\n", "data: {\"a\":\n\n", "data:\n\n"}) {
        RelayScratch scratch;
        StreamRelay stream{scratch, policy()};
        EXPECT_EQ(relay(stream, bad, 1000000).last, RelayVerdict::protocol) << bad;
    }
}

TEST(StreamRelay, AFloodOfCommentsBeforeTheCommitStaysBounded) {
    RelayScratch scratch;
    auto rules = policy();
    rules.max_held_bytes = 100;
    StreamRelay stream{scratch, rules};
    std::string flood;
    for (int i = 0; i < 1000; ++i)
        flood += ": keep-alive\n\n";
    const auto result = relay(stream, flood + hello + finish, 1000);
    EXPECT_LT(result.sent.size(), 100 + hello.size() + finish.size() + 100);
    EXPECT_NE(result.sent.find("hello"), std::string::npos);
    EXPECT_FALSE(stream.progressed());
}

TEST(StreamRelay, DataOverSeveralLinesIsEditedToo) {
    RelayScratch scratch;
    StreamRelay stream{scratch, policy()};
    const auto result = relay(
        stream,
        "data: {\"model\":\"r\",\ndata: \"choices\":[{\"index\":0,\"text\":\"a\",\"finish_reason\":\"stop\"}]}\n\n", 7);
    EXPECT_EQ(result.sent,
              "data: {\"model\":\"alias\",\ndata: "
              "\"choices\":[{\"index\":0,\"text\":\"a\",\"finish_reason\":\"stop\"}]}\n\n");
}

TEST(StreamRelay, CountsTokensByEventOrByBytes) {
    for (const bool by_event : {true, false}) {
        RelayScratch scratch;
        auto rules = policy();
        rules.event_is_token = by_event;
        StreamRelay stream{scratch, rules};
        const std::string twelve = R"(data: {"choices":[{"index":0,"delta":{"content":"twelve bytes"}}]})"
                                   "\n\n";
        (void)relay(stream, twelve + twelve, 1000000);
        EXPECT_EQ(stream.output_events(), 2U);
        EXPECT_EQ(stream.estimated_tokens(), by_event ? 2U : 6U);
    }
}

// Events of one stream differ in their text, and now and then in a byte elsewhere; whatever is not parsed again must
// not show. The model stands behind the text, so that its place moves.
TEST(StreamRelay, EventsThatRepeatOneAnotherLeaveAsIfEachHadBeenParsed) {
    constexpr std::array<std::string_view, 10> texts{
        "a", "of", " the", "", R"(\n)", R"(\")", "z\xc3\xbcgig", "longer than sixteen bytes", R"(\ud83d)", " "};
    constexpr std::array<std::string_view, 4> ends{R"("f":null)", R"("f":true)", R"("finish_reason":"stop")",
                                                   R"("timings":{"predicted_n":3})"};
    const std::uint64_t seed = base::Random::from_system()();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    base::Random random{seed};
    RelayScratch scratch;
    AnswerReader reference;
    RelayPolicy endless = policy();
    endless.choices = 64;
    StreamRelay stream{scratch, endless};
    std::uint64_t outputs = 0;
    for (int i = 0; i < 3000; ++i) {
        // Mostly the same again.
        const auto odd = [&random](std::size_t most) { return random.below(6) == 0 ? random.below(most) : 0; };
        const auto text = i == 0 ? texts[0] : texts[random.below(texts.size())];
        std::string data = R"({"choices":[{"index":)" + std::to_string(odd(3)) + R"(,"delta":{"content":")";
        data.append(text).append(R"("}}],"model":"r",)").append(ends[odd(ends.size())]).append("}");
        std::string bytes = "data: " + data + "\n\n";
        const std::size_t size = bytes.size();
        bytes.append(64, '\0');
        const Answer& answer = reference.read({bytes.data() + 6, data.size()}, endless.answer);
        outputs += answer.carries_output ? 1 : 0;
        Slices expected;
        splice({bytes.data(), size}, answer.edits, 6, expected);
        ASSERT_EQ(stream.feed({bytes.data(), size}), RelayVerdict::more) << data;
        ASSERT_EQ(joined(stream.slices()), joined(expected)) << data;
        ASSERT_EQ(stream.fed_output(), answer.carries_output) << data;
        ASSERT_EQ(stream.output_events(), outputs) << data;
    }
}

// The same where events come in pieces and several at once, with names and with any line ending.
TEST(StreamRelay, EventsThatRepeatOneAnotherAreCutAlikeInAnySplit) {
    constexpr std::array<std::string_view, 4> texts{"a", " longer than sixteen bytes", "z\xc3\xbcgig", R"(\n)"};
    constexpr std::array<std::string_view, 4> ends{"\n\n", "\r\n\r\n", "\r\r", "\n\r\n"};
    const std::uint64_t seed = base::Random::from_system()();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    base::Random random{seed};
    RelayScratch scratch;
    for (int round = 0; round < 50; ++round) {
        StreamRelay stream{scratch, policy()};
        const auto end = ends[random.below(ends.size())];
        const std::string_view before = random.below(2) == 0 ? "" : "event: delta\r\n";
        std::string text, expected;
        for (int i = 0; i < 30; ++i) {
            const auto this_end = random.below(10) == 0 ? ends[random.below(ends.size())] : end;
            const auto event = [&](std::string_view model) {
                return std::string{before}
                    .append(R"(data: {"choices":[{"index":0,"delta":{"content":")")
                    .append(texts[static_cast<std::size_t>(i) % texts.size()])
                    .append(R"("}}],"model":")")
                    .append(model)
                    .append("\"}")
                    .append(this_end);
            };
            text += event("r");
            expected += event("alias");
        }
        const auto result = relay(stream, text + done, 1 + random.below(400));
        ASSERT_EQ(result.sent, expected + done);
        ASSERT_EQ(stream.output_events(), 30U);
    }
}

}  // namespace
}  // namespace weir::gateway
