#include "http/response_head.h"

#include <gtest/gtest.h>

#include <array>

namespace weir::http {
namespace {

TEST(ResponseHeadText, TellsTheFraming) {
    const std::array<Field, 1> fields{Field{.name = "X-A", .value = "b"}};
    const auto head = [&fields](ResponseFrame frame) {
        frame.date = "D";
        return make_response_head(frame, fields);
    };
    EXPECT_EQ(head({.framing = Framing::length, .content_length = 12}),
              "HTTP/1.1 200 OK\r\nDate: D\r\nX-A: b\r\nContent-Length: 12\r\n\r\n");
    EXPECT_EQ(head({.status = 404, .framing = Framing::chunked}),
              "HTTP/1.1 404 Not Found\r\nDate: D\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n");
    EXPECT_EQ(head({.status = 204}), "HTTP/1.1 204 No Content\r\nDate: D\r\nX-A: b\r\n\r\n");
    EXPECT_EQ(head({.framing = Framing::until_close, .keep_alive = false}),
              "HTTP/1.1 200 OK\r\nDate: D\r\nX-A: b\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(head({.minor_version = 0, .framing = Framing::length}),
              "HTTP/1.1 200 OK\r\nDate: D\r\nX-A: b\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n");
}

TEST(ResponseHeadText, LeavesOutWhatCouldSplitOrReframeIt) {
    const std::array<Field, 10> fields{
        Field{.name = "X-Cr", .value = "a\rb"},        Field{.name = "X-Lf", .value = "a\nb"},
        Field{.name = "X-Nul", .value = {"a\0b", 3}},  Field{.name = "X:Y", .value = "a"},
        Field{.name = "X\r\nY", .value = "a"},         Field{.name = "", .value = "a"},
        Field{.name = "content-LENGTH", .value = "7"}, Field{.name = "Transfer-Encoding", .value = "gzip"},
        Field{.name = "Connection", .value = "close"}, Field{.name = "X-Tab", .value = "a\tb"},
    };
    EXPECT_EQ(make_response_head({.framing = Framing::chunked, .date = "D"}, fields),
              "HTTP/1.1 200 OK\r\nDate: D\r\nX-Tab: a\tb\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST(ResponseHeadText, NamesEveryStatusOfTheContract) {
    for (const int status : {200, 400, 401, 403, 404, 405, 408, 413, 415, 429, 431, 500, 501, 502, 503, 504}) {
        EXPECT_NE(reason_phrase(status), "Unknown") << status;
    }
    EXPECT_EQ(reason_phrase(299), "Unknown");
}

TEST(HttpDate, IsWrittenAsTheStandardSays) {
    EXPECT_EQ(http_date(base::WallTime{std::chrono::seconds{784111777}}), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(http_date(base::WallTime{}), "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST(HttpDate, IsMadeOnceASecond) {
    HttpDate date;
    const base::Instant start{std::chrono::hours{1}};
    const auto* const first = date.at(start).data();
    const std::string text{date.at(start)};
    EXPECT_EQ(text.size(), 29U);
    EXPECT_EQ(date.at(start + std::chrono::milliseconds{999}).data(), first);
    EXPECT_EQ(date.at(start + std::chrono::seconds{1}).size(), 29U);
}

}  // namespace
}  // namespace weir::http
