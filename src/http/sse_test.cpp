#include "http/sse.h"

#include "http/test_data.h"

#include <gtest/gtest.h>

namespace weir::http {
namespace {

struct Seen {
    std::string raw;
    std::string name;
    std::string data;
    bool has_data = false;
    bool data_in_raw = false;
    friend bool operator==(const Seen&, const Seen&) = default;
    friend void PrintTo(const Seen& seen, std::ostream* out) {
        *out << testing::PrintToString(seen.raw) << " name=" << seen.name
             << " data=" << testing::PrintToString(seen.data);
    }
};

bool lies_within(std::string_view part, std::string_view whole) {
    return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

Seen copy(const Event& event) {
    EXPECT_EQ(event.has_data && event.data_in_raw, event.has_data && lies_within(event.data, event.raw));
    return {.raw = std::string{event.raw},
            .name = std::string{event.name},
            .data = std::string{event.data},
            .has_data = event.has_data,
            .data_in_raw = event.data_in_raw};
}

// Feeds the pieces, each from a buffer of its own that is overwritten afterwards, as the shared buffer is.
std::vector<Seen> scan(const std::vector<std::string>& pieces) {
    EventScanner scanner;
    std::vector<Seen> events;
    for (const auto& piece : pieces) {
        std::string buffer = piece;
        buffer.reserve(buffer.size() + 64);
        EXPECT_TRUE(scanner.feed(buffer).has_value());
        std::vector<std::pair<std::string_view, std::string>> raws;  // valid until the next feed
        while (const auto event = scanner.next()) {
            events.push_back(copy(*event));
            raws.emplace_back(event->raw, event->raw);
        }
        for (const auto& [view, bytes] : raws)
            EXPECT_EQ(view, bytes);
        std::fill(buffer.begin(), buffer.end(), '#');
    }
    if (const auto rest = scanner.finish()) events.push_back(copy(*rest));
    scanner.drop_taken();
    EXPECT_EQ(scanner.held_bytes(), 0U);
    return events;
}

std::vector<std::string> bytes_of(std::string_view text) {
    std::vector<std::string> pieces;
    for (const char c : text)
        pieces.emplace_back(1, c);
    return pieces;
}

std::string joined_raw(const std::vector<Seen>& events) {
    std::string bytes;
    for (const auto& event : events)
        bytes += event.raw;
    return bytes;
}

struct ScanCase {
    std::string name;
    std::string input;
    std::vector<Seen> expected;
};

Seen data_event(std::string raw, std::string data) {
    return {.raw = std::move(raw), .name = "", .data = std::move(data), .has_data = true, .data_in_raw = true};
}

std::vector<ScanCase> scan_cases() {
    Seen comment{.raw = ": ping\n\n", .name = "", .data = ""};
    Seen named{.raw = "event: error\ndata: {}\nid: 7\nretry: 3\n\n",
               .name = "error",
               .data = "{}",
               .has_data = true,
               .data_in_raw = true};
    Seen joined{
        .raw = "data: a\ndata:\ndata: b\n\n", .name = "", .data = "a\n\nb", .has_data = true, .data_in_raw = false};
    return {
        {"one event", "data: {\"a\":1}\n\n", {data_event("data: {\"a\":1}\n\n", "{\"a\":1}")}},
        {"no blank behind the colon", "data:x\n\n", {data_event("data:x\n\n", "x")}},
        {"only one blank is taken away", "data:  x \n\n", {data_event("data:  x \n\n", " x ")}},
        {"no colon", "data\n\n", {data_event("data\n\n", "")}},
        {"CRLF",
         "data: x\r\n\r\ndata: y\r\n\r\n",
         {data_event("data: x\r\n\r\n", "x"), data_event("data: y\r\n\r\n", "y")}},
        {"CR", "data: x\r\rdata: y\r\r", {data_event("data: x\r\r", "x"), data_event("data: y\r\r", "y")}},
        {"mixed",
         "data: x\n\r\ndata: y\r\ndata: z\n\n",
         {data_event("data: x\n\r\n", "x"),
          {.raw = "data: y\r\ndata: z\n\n", .name = "", .data = "y\nz", .has_data = true, .data_in_raw = false}}},
        {"a comment", ": ping\n\n", {comment}},
        {"a bare comment as llama.cpp sends it", ":\n\n", {{.raw = ":\n\n", .name = "", .data = ""}}},
        {"name, id, retry", named.raw, {named}},
        {"several data lines", joined.raw, {joined}},
        {"a longer field name is another field", "data2: x\n\n", {{.raw = "data2: x\n\n", .name = "", .data = ""}}},
        {"a byte order mark",
         "\xEF\xBB\xBF"
         "data: x\n\n",
         {data_event("\xEF\xBB\xBF"
                     "data: x\n\n",
                     "x")}},
        {"blank lines between events",
         "data: x\n\n\ndata: y\n\n",
         {data_event("data: x\n\n", "x"), {.raw = "\n", .name = "", .data = ""}, data_event("data: y\n\n", "y")}},
        {"an event without its blank line",
         "data: x\n\ndata: y",
         {data_event("data: x\n\n", "x"), data_event("data: y", "y")}},
        {"a character of four bytes",
         "data: \xF0\x9F\x98\x80\n\n",
         {data_event("data: \xF0\x9F\x98\x80\n\n", "\xF0\x9F\x98\x80")}},
        {"nothing", "", {}},
    };
}

TEST(EventScanner, CutsEventsWhateverTheLineEndings) {
    for (const auto& test : scan_cases()) {
        SCOPED_TRACE(test.name);
        EXPECT_EQ(scan({test.input}), test.expected);
    }
}

// An LF that arrives after its CR opens the raw of the next event: everything but this is the same for any split.
std::vector<Seen> without_late_line_feeds(std::vector<Seen> events) {
    for (std::size_t at = 0; at < events.size(); ++at) {
        if (at > 0 && events[at - 1].raw.ends_with('\r') && events[at].raw.starts_with('\n')) {
            events[at - 1].raw += '\n';
            events[at].raw.erase(0, 1);
        }
        if (events[at].raw.empty()) events.erase(events.begin() + static_cast<std::ptrdiff_t>(at--));
    }
    return events;
}

TEST(EventScanner, FindsTheSameEventsInEverySplit) {
    for (const auto& test : scan_cases()) {
        SCOPED_TRACE(test.name);
        EXPECT_EQ(without_late_line_feeds(scan(bytes_of(test.input))), test.expected);
        for (std::size_t cut = 1; cut < test.input.size(); ++cut) {
            const auto events = scan({test.input.substr(0, cut), test.input.substr(cut)});
            ASSERT_EQ(without_late_line_feeds(events), test.expected) << cut;
        }
    }
}

TEST(EventScanner, CompletesAnEventAtItsLastReturnWithoutWaitingForTheLineFeed) {
    EventScanner scanner;
    std::string first = "data: x\r\n\r";
    std::string second = "\ndata: y\r\n\r\n";
    first.reserve(128);
    second.reserve(128);
    ASSERT_TRUE(scanner.feed(first).has_value());
    const auto event = scanner.next();
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->data, "x");
    EXPECT_FALSE(scanner.next().has_value());
    ASSERT_TRUE(scanner.feed(second).has_value());
    const auto following = scanner.next();
    ASSERT_TRUE(following.has_value());
    EXPECT_EQ(following->data, "y");
    EXPECT_EQ(following->raw, second);
}

TEST(EventScanner, PassesOverAnEventThatTheCallerKnowsWhetherItCameWholeOrInPieces) {
    const std::string known = "data: known\n\n";
    const std::string text = known + "data: x\n\n" + known;
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        SCOPED_TRACE(cut);
        EventScanner scanner;
        std::vector<std::string> seen;
        for (std::string piece : {text.substr(0, cut), text.substr(cut)}) {
            piece.reserve(piece.size() + 64);
            ASSERT_TRUE(scanner.feed(piece).has_value());
            while (true) {
                if (scanner.upcoming().starts_with(known)) {
                    seen.push_back("known");
                    scanner.skip(known.size());
                    continue;
                }
                const auto event = scanner.next();
                if (!event) break;
                seen.emplace_back(event->data);
            }
        }
        EXPECT_EQ(seen, (std::vector<std::string>{"known", "x", "known"}));
    }
}

TEST(EventScanner, FindsTheSameEventsInEveryRecordingWholeByteByByteAndRandomlySplit) {
    const auto seed = test::test_seed();
    SCOPED_TRACE(testing::Message() << "WEIR_TEST_SEED=" << seed);
    std::mt19937 random{seed};
    std::size_t streams = 0;
    for (const auto& name : test::recording_names()) {
        SCOPED_TRACE(name);
        const auto payload = test::recorded_payload(name);
        const auto whole = scan({payload});
        streams += whole.size() > 1 ? 1 : 0;
        ASSERT_EQ(joined_raw(whole), payload);
        ASSERT_EQ(scan(bytes_of(payload)), whole);
        for (int round = 0; round < 8; ++round)
            ASSERT_EQ(scan(test::random_pieces(payload, random)), whole);
    }
    EXPECT_GE(streams, 20U);
}

TEST(EventScanner, CountsTheEventsThatTheRecordingsManifestNames) {
    const auto events = scan({test::recorded_payload("10-chat-stream-usage-spec")});
    EXPECT_EQ(std::ranges::count_if(events, &Seen::has_data), 52);
    EXPECT_EQ(events.back().data, "[DONE]");
}

TEST(EventScanner, RefusesATailLongerThanTheLimit) {
    EventScanner scanner{100};
    std::string piece(60, 'x');
    piece.reserve(piece.size() + 64);
    ASSERT_TRUE(scanner.feed(piece).has_value());
    ASSERT_FALSE(scanner.next().has_value());
    EXPECT_EQ(scanner.held_bytes(), 60U);
    const auto status = scanner.feed(piece);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code(), base::ErrorCode::too_large);
}

TEST(EventScanner, LeavesSixtyFourReadableBytesBehindDataThatItOwns) {
    EventScanner scanner;
    std::string first = "data: a\ndata: b\n";
    std::string second = "\n";
    first.reserve(128);
    second.reserve(128);
    ASSERT_TRUE(scanner.feed(first).has_value());
    ASSERT_FALSE(scanner.next().has_value());
    ASSERT_TRUE(scanner.feed(second).has_value());
    const auto event = scanner.next();
    ASSERT_TRUE(event.has_value());
    // Read as simdjson does; AddressSanitizer objects when it is too little.
    volatile char sum = 0;
    for (std::size_t at = 0; at < 64; ++at) {
        sum = static_cast<char>(sum + *(event->raw.data() + event->raw.size() + at) +
                                *(event->data.data() + event->data.size() + at));
    }
    EXPECT_EQ(event->data, "a\nb");
    EXPECT_GE(scanner.held_bytes(), event->raw.size());
    scanner.drop_taken();
    EXPECT_EQ(scanner.held_bytes(), 0U) << "what was taken is not kept while its reader waits";
}

}  // namespace
}  // namespace weir::http
