#include "http/head_parser.h"

#include "http/head_scanner.h"
#include "http/test_data.h"
#include "http/test_messages.h"

#include <gtest/gtest.h>

namespace weir::http {
namespace {

// The way the server takes a head: the scanner finds its end, then it is parsed.
std::expected<RequestHead, HeadError> take_request(std::string_view bytes) {
    HeadScanner scanner;
    const auto end = scanner.scan(bytes);
    if (!end) return std::unexpected{HeadError{.fault = Fault::malformed, .message = end.error()}};
    EXPECT_GT(*end, 0U);
    if (*end <= 2) return std::unexpected{HeadError{.fault = Fault::malformed, .message = "blank line"}};
    return parse_request_head(bytes.substr(0, *end));
}

TEST(RequestHead, OfAmbiguousMessagesIsRefused) {
    const auto messages = test::ambiguous_heads();
    EXPECT_GE(messages.size(), 40U);
    for (const auto& message : messages) {
        const auto head = take_request(message.bytes);
        ASSERT_FALSE(head.has_value()) << message.name;
        EXPECT_NE(head.error().fault, Fault::head_too_large) << message.name;
        EXPECT_FALSE(head.error().message.empty()) << message.name;
    }
}

struct RequestCase {
    std::string name;
    std::string bytes;
    std::string path = "/v1/models";
    std::string query = "";
    int minor_version = 1;
    Framing framing = Framing::none;
    std::uint64_t content_length = 0;
    bool keep_alive = true;
    bool expect_continue = false;
};

std::vector<RequestCase> request_cases() {
    const auto get = [](const std::string& fields, const std::string& target = "/v1/models", int minor = 1) {
        return "GET " + target + " HTTP/1." + std::to_string(minor) + "\r\nHost: a\r\n" + fields + "\r\n";
    };
    return {
        {.name = "the least", .bytes = get("")},
        {.name = "a query", .bytes = get("", "/v1/models?beta=true&x"), .query = "beta=true&x"},
        {.name = "an empty query", .bytes = get("", "/v1/models?")},
        {.name = "an absolute target", .bytes = get("", "http://other:80/v1/models?q"), .query = "q"},
        {.name = "a host with a port", .bytes = "GET /v1/models HTTP/1.1\r\nhOST: [::1]:8080\r\n\r\n"},
        {.name = "HTTP/1.0", .bytes = get("", "/v1/models", 0), .minor_version = 0, .keep_alive = false},
        {.name = "HTTP/1.0 without a host",
         .bytes = "GET /v1/models HTTP/1.0\r\n\r\n",
         .minor_version = 0,
         .keep_alive = false},
        {.name = "HTTP/1.0 kept", .bytes = get("Connection: Keep-Alive\r\n", "/v1/models", 0), .minor_version = 0},
        {.name = "close", .bytes = get("Connection: close\r\n"), .keep_alive = false},
        {.name = "close in a list", .bytes = get("Connection: te, Close\r\n"), .keep_alive = false},
        {.name = "close in a second line", .bytes = get("Connection: te\r\nConnection:close\r\n"), .keep_alive = false},
        {.name = "a list with empty items", .bytes = get("Connection: ,, keep-alive ,\r\n")},
        {.name = "close beats keep-alive",
         .bytes = get("Connection: keep-alive, close\r\n", "/v1/models", 0),
         .minor_version = 0,
         .keep_alive = false},
        {.name = "a token that only begins with close", .bytes = get("Connection: closed\r\n")},
        {.name = "a length", .bytes = get("Content-Length: 12\r\n"), .framing = Framing::length, .content_length = 12},
        {.name = "a length of zero", .bytes = get("Content-Length: 0\r\n")},
        {.name = "a length among blanks",
         .bytes = get("Content-Length:\t 12 \r\n"),
         .framing = Framing::length,
         .content_length = 12},
        {.name = "chunked", .bytes = get("Transfer-Encoding: Chunked\r\n"), .framing = Framing::chunked},
        {.name = "expect",
         .bytes = get("Expect: 100-Continue\r\nContent-Length: 1\r\n"),
         .framing = Framing::length,
         .content_length = 1,
         .expect_continue = true},
        {.name = "expect in HTTP/1.0",
         .bytes = get("Expect: 100-continue\r\n", "/v1/models", 0),
         .minor_version = 0,
         .keep_alive = false},
        {.name = "an empty value", .bytes = get("X-Empty:\r\n")},
        {.name = "bytes beyond ASCII in a value", .bytes = get("X-Name: J\xC3\xBCrgen\r\n")},
    };
}

TEST(RequestHead, IsReadAsItWasSent) {
    for (const auto& test : request_cases()) {
        SCOPED_TRACE(test.name);
        const auto head = take_request(test.bytes);
        ASSERT_TRUE(head.has_value()) << head.error().message;
        EXPECT_EQ(head->method, "GET");
        EXPECT_EQ(head->path, test.path);
        EXPECT_EQ(head->query, test.query);
        EXPECT_EQ(head->minor_version, test.minor_version);
        EXPECT_EQ(head->framing, test.framing);
        EXPECT_EQ(head->content_length, test.content_length);
        EXPECT_EQ(head->keep_alive, test.keep_alive);
        EXPECT_EQ(head->expect_continue, test.expect_continue);
    }
}

TEST(RequestHead, KeepsFieldsInOrderWithTrimmedValues) {
    const auto head =
        take_request("GET / HTTP/1.1\r\nHost: a\r\nX-One:  1 \r\nx-two:2\r\nX-One: 3\r\nX-Empty: \r\n\r\n");
    ASSERT_TRUE(head.has_value());
    ASSERT_EQ(head->fields.all().size(), 5U);
    EXPECT_EQ(head->fields.find("x-ONE"), "1");
    EXPECT_EQ(head->fields.count("x-one"), 2U);
    EXPECT_EQ(head->fields.find("X-Two"), "2");
    EXPECT_EQ(head->fields.find("X-Empty"), "");
    EXPECT_FALSE(head->fields.find("X-Three").has_value());
}

TEST(RequestHead, MayHaveAsManyFieldsAsTheLimitAndNoMore) {
    const auto with_fields = [](std::size_t count) {
        std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\n";
        for (std::size_t field = 1; field < count; ++field)
            bytes += "A: b\r\n";
        return bytes + "\r\n";
    };
    EXPECT_TRUE(take_request(with_fields(max_fields)).has_value());
    const auto refused = take_request(with_fields(max_fields + 1));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().fault, Fault::head_too_large);
}

TEST(RequestHead, OfAnotherVersionIsToldApart) {
    const auto head = take_request("GET / HTTP/2.0\r\nHost: a\r\n\r\n");
    ASSERT_FALSE(head.has_value());
    EXPECT_EQ(head.error().fault, Fault::unsupported_version);
}

TEST(RequestHead, OfEveryRecordedClientIsAccepted) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{test::recordings_directory()}) {
        if (entry.path().extension() != ".request") continue;
        const auto head = take_request(test::read_file(entry.path()));
        EXPECT_TRUE(head.has_value()) << entry.path();
        ++count;
    }
    EXPECT_GE(count, 90U);
}

std::expected<ResponseHead, HeadError> take_response(std::string_view bytes, bool to_head_request = false) {
    HeadScanner scanner;
    const auto end = scanner.scan(bytes);
    if (!end) return std::unexpected{HeadError{.fault = Fault::malformed, .message = end.error()}};
    EXPECT_GT(*end, 0U);
    return parse_response_head(bytes.substr(0, *end), to_head_request);
}

struct ResponseCase {
    std::string name;
    std::string bytes;
    bool to_head_request = false;
    int status = 200;
    Framing framing = Framing::none;
    std::uint64_t content_length = 0;
    bool keep_alive = true;
    std::optional<int> timeout_s = std::nullopt;
    std::optional<int> max = std::nullopt;
};

std::vector<ResponseCase> response_cases() {
    const std::string ok = "HTTP/1.1 200 OK\r\n";
    return {
        {.name = "a length",
         .bytes = ok + "Content-Length: 7\r\n\r\n",
         .framing = Framing::length,
         .content_length = 7},
        {.name = "no body at all", .bytes = ok + "Content-Length: 0\r\n\r\n"},
        {.name = "chunked", .bytes = ok + "Transfer-Encoding: chunked\r\n\r\n", .framing = Framing::chunked},
        {.name = "until close", .bytes = ok + "\r\n", .framing = Framing::until_close, .keep_alive = false},
        {.name = "to HEAD", .bytes = ok + "Content-Length: 7\r\n\r\n", .to_head_request = true, .content_length = 7},
        {.name = "no content",
         .bytes = "HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n",
         .status = 204,
         .content_length = 7},
        {.name = "not modified", .bytes = "HTTP/1.1 304 \r\n\r\n", .status = 304},
        {.name = "continue", .bytes = "HTTP/1.1 100 Continue\r\n\r\n", .status = 100},
        {.name = "an empty value, as llama.cpp sends it",
         .bytes = ok + "Access-Control-Allow-Origin: \r\nContent-Length: 0\r\n\r\n"},
        {.name = "Keep-Alive",
         .bytes = ok + "Keep-Alive: timeout=5, max=100\r\nContent-Length: 0\r\n\r\n",
         .timeout_s = 5,
         .max = 100},
        {.name = "a strange Keep-Alive",
         .bytes = ok + "Keep-Alive: TIMEOUT=x,, foo, max=7;\r\nContent-Length: 0\r\n\r\n"},
        {.name = "close", .bytes = ok + "Connection: close\r\nContent-Length: 0\r\n\r\n", .keep_alive = false},
        {.name = "HTTP/1.0", .bytes = "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", .keep_alive = false},
    };
}

TEST(ResponseHead, IsReadAsItWasSent) {
    for (const auto& test : response_cases()) {
        SCOPED_TRACE(test.name);
        const auto head = take_response(test.bytes, test.to_head_request);
        ASSERT_TRUE(head.has_value()) << head.error().message;
        EXPECT_EQ(head->status, test.status);
        EXPECT_EQ(head->framing, test.framing);
        EXPECT_EQ(head->content_length, test.content_length);
        EXPECT_EQ(head->keep_alive, test.keep_alive);
        EXPECT_EQ(head->keep_alive_timeout_s, test.timeout_s);
        EXPECT_EQ(head->keep_alive_max, test.max);
    }
}

TEST(ResponseHead, ThatIsAmbiguousOrMalformedIsRefused) {
    const std::string ok = "HTTP/1.1 200 OK\r\n";
    const std::vector<std::string> heads = {
        ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        ok + "Transfer-Encoding: gzip\r\n\r\n",
        ok + "Connection: keep alive\r\n\r\n",
        ok + "Connection: close;q=1\r\n\r\n",
        ok + "Transfer-Encoding: gzip, chunked\r\n\r\n",
        ok + "X: a\r\n b\r\n\r\n",
        ok + "X : a\r\n\r\n",
        ok + "X: a\nY: b\r\n\r\n",
        ok + "X: a\rb\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 999 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1 200 O\x01K\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
        "\r\n\r\n",
    };
    for (const auto& bytes : heads)
        EXPECT_FALSE(take_response(bytes).has_value()) << bytes;
}

TEST(ResponseHead, OfEveryRecordingIsAccepted) {
    for (const auto& name : test::recording_names()) {
        EXPECT_TRUE(take_response(test::recorded_response(name)).has_value()) << name;
    }
}

TEST(HeadScanner, FindsTheSameEndHoweverTheBytesArrive) {
    const std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\nbody\n";
    const auto end = bytes.find("body");
    HeadScanner scanner;
    for (std::size_t size = 1; size <= bytes.size(); ++size) {
        const auto found = scanner.scan(std::string_view{bytes}.substr(0, size));
        ASSERT_TRUE(found.has_value());
        ASSERT_EQ(*found, size >= end ? end : 0U);
        if (size >= end) break;
    }
}

TEST(HeadScanner, RefusesABareLineFeedAsSoonAsItComes) {
    HeadScanner scanner;
    EXPECT_EQ(scanner.scan("GET / HTTP/1.1\r\nHost: a"), 0U);
    EXPECT_FALSE(scanner.scan("GET / HTTP/1.1\r\nHost: a\n").has_value());
}

}  // namespace
}  // namespace weir::http
