// The server against clients that are slow, greedy, ambiguous or gone: limits, refusals, draining.
#include "http/server.h"
#include "http/test_data.h"
#include "http/test_messages.h"
#include "http/test_server.h"

#include <gtest/gtest.h>

namespace weir::http {
namespace {

using namespace std::chrono_literals;
using test::body_of;
using test::count_of;
using test::eventually;
using test::TestServer;

TEST(ServerLimits, RefuseEveryAmbiguousHeadOnceAndClose) {
    TestServer server;
    for (const auto& message : test::ambiguous_heads()) {
        SCOPED_TRACE(message.name);
        const auto all = server.talk(message.bytes);
        EXPECT_TRUE(all.starts_with("HTTP/1.1 400 Bad Request\r\n")) << all;
        EXPECT_EQ(count_of(all, "\r\nDate: "), 1U);
        EXPECT_NE(all.find("Connection: close\r\n"), std::string::npos);
    }
    EXPECT_EQ(server.observed.requests, 0);
}

TEST(ServerLimits, RefuseEveryAmbiguousChunkedBodyOnceAndClose) {
    TestServer server;
    int requests = 0;
    for (const auto& message : test::ambiguous_chunks()) {
        SCOPED_TRACE(message.name);
        const auto all = server.talk(message.bytes);
        EXPECT_TRUE(all.starts_with("HTTP/1.1 400 Bad Request\r\n")) << all;
        EXPECT_EQ(count_of(all, "\r\nDate: "), 1U);
        EXPECT_EQ(server.observed.requests, ++requests);  // the second request in the bytes was never seen
    }
}

TEST(ServerLimits, RefuseALongHead) {
    TestServer server{{.header_bytes = 1000}};
    const std::string start = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
    EXPECT_TRUE(
        server.talk(start + std::string(900, 'x') + "\r\nConnection: close\r\n\r\n").starts_with("HTTP/1.1 200"));
    EXPECT_TRUE(server.talk(start + std::string(1000, 'x') + "\r\n\r\n").starts_with("HTTP/1.1 431 "));
    EXPECT_TRUE(server.talk(start + std::string(200'000, 'x')).starts_with("HTTP/1.1 431 "));
}

TEST(ServerLimits, RefuseTooManyFields) {
    TestServer server;
    std::string request = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (int field = 0; field < 101; ++field)
        request += "A: b\r\n";
    EXPECT_TRUE(server.talk(request + "\r\n").starts_with("HTTP/1.1 431 "));
}

TEST(ServerLimits, RefuseALargeBodyWithAResponseAndNotAReset) {
    TestServer server{{.body_bytes = 1'000'000}};
    const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\n";
    const std::string body(1'500'000, 'x');
    // The client writes all of it before it reads anything, as many do.
    for (const auto& framed : {"Content-Length: 1500000\r\n\r\n" + body,
                               "Transfer-Encoding: chunked\r\n\r\n16e360\r\n" + body + "\r\n0\r\n\r\n"}) {
        auto client = server.connect();
        EXPECT_TRUE(client.send(head + framed));
        const auto all = client.receive_to_end();
        EXPECT_TRUE(all.starts_with("HTTP/1.1 413 Content Too Large\r\n")) << all;
        EXPECT_EQ(client.failure(), 0);
    }
}

TEST(ServerLimits, AnnouncedLengthAloneIsRefusedBeforeAnyByteOfTheBody) {
    TestServer server{{.body_bytes = 1000}};
    auto client = server.connect();
    ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"));
    EXPECT_TRUE(client.receive_until("\r\n\r\n").starts_with("HTTP/1.1 413 "));
}

TEST(ServerLimits, ReadTheAnswerToAnUnreadBodyThatIsStillComing) {
    TestServer server;
    auto client = server.connect();
    const std::string body(3'000'000, 'x');
    EXPECT_TRUE(client.send("POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n" + body));
    const auto all = client.receive_to_end();
    EXPECT_TRUE(all.starts_with("HTTP/1.1 401 Unauthorized\r\n"));
    EXPECT_NE(all.find("Connection: close\r\n"), std::string::npos);
    EXPECT_EQ(client.failure(), 0);
}

TEST(ServerLimits, ListenToARefusedBodyThatComesLater) {
    TestServer server{{.body_bytes = 100'000}};
    auto client = server.connect();
    ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100001\r\n\r\n"));
    ASSERT_TRUE(eventually([&] { return server.observed.refused == 1; }));
    for (int piece = 0; piece < 20; ++piece) {
        EXPECT_EQ(server.connections(), 1U);  // also lets the server's loop turn
        EXPECT_TRUE(client.send(std::string(1000, 'x')));
    }
    EXPECT_TRUE(client.receive_to_end().starts_with("HTTP/1.1 413 "));
    EXPECT_EQ(client.failure(), 0);
}

TEST(ServerLimits, StopAClientThatNeverEndsItsBody) {
    TestServer server{{.body_bytes = 1000}};
    auto client = server.connect();
    client.set_timeout(20s);
    ASSERT_TRUE(client.send("POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n"));
    const std::string block(64 * 1024, 'x');
    int blocks = 0;
    while (blocks < 2000 && client.send(block))
        ++blocks;
    EXPECT_LT(blocks, 2000);
}

TEST(ServerLimits, AnswerSlowHeadsAndBodies) {
    TestServer server{{.header_timeout = 50ms, .body_timeout = 50ms}};
    const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\n";
    for (const auto& part : {std::string{"P"}, head, head + "Content-Length: 5\r\n\r\nhell",
                             head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"}) {
        EXPECT_TRUE(server.talk(part).starts_with("HTTP/1.1 408 Request Timeout\r\n")) << part;
    }
}

TEST(ServerLimits, TheTimeForAHeadIsNotProlongedByItsBytes) {
    TestServer server{{.header_timeout = 100ms}};
    auto client = server.connect();
    client.set_timeout(20ms);
    std::string all;
    const auto started = std::chrono::steady_clock::now();
    for (int count = 0; all.empty() && count < 500; ++count) {
        client.send("x");
        all = client.receive();
    }
    EXPECT_TRUE(all.starts_with("HTTP/1.1 408 ")) << all;
    EXPECT_LT(std::chrono::steady_clock::now() - started, 5s);
}

TEST(ServerLimits, CloseAnIdleConnectionInSilence) {
    TestServer server{{.idle_timeout = 50ms}};
    auto silent = server.connect();
    EXPECT_EQ(silent.receive_to_end(), "");
    EXPECT_EQ(silent.failure(), 0);
    const auto all = server.talk("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_TRUE(all.ends_with("GET /x|")) << all;
    EXPECT_EQ(server.observed.refused, 0);
}

TEST(ServerLimits, ASlowReaderHoldsBackTheHandlerAndGetsAllInTheEnd) {
    TestServer server;
    auto client = server.connect(16 * 1024);
    ASSERT_TRUE(client.send("GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    // The server comes to rest well before the end: what is under way is in the kernel's buffers only.
    std::uint64_t before = 1;
    ASSERT_TRUE(eventually([&] {
        const std::uint64_t now = server.observed.written_bytes;
        return now > 0 && std::exchange(before, now) == now;
    }));
    EXPECT_LT(server.observed.written_bytes, 7'000'000U);
    const auto all = client.receive_to_end();
    EXPECT_TRUE(all.ends_with("0\r\n\r\n"));
    EXPECT_GT(all.size(), 8U * 1024 * 1024);
}

TEST(ServerLimits, AReaderThatStopsIsCutOff) {
    TestServer server{{.write_stall_timeout = 100ms}};
    auto client = server.connect(16 * 1024);
    ASSERT_TRUE(client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n"));
    EXPECT_TRUE(eventually([&] { return server.observed.failed_writes == 1 && server.connections() == 0; }));
}

TEST(ServerLimits, AResponseThatIsNotReadInItsTimeIsCutOffLongBeforeAStall) {
    TestServer server{{.write_stall_timeout = 60s}};
    auto client = server.connect(16 * 1024);
    ASSERT_TRUE(client.send("GET /big-in-time HTTP/1.1\r\nHost: a\r\n\r\n"));
    EXPECT_TRUE(eventually([&] { return server.observed.failed_writes == 1 && server.connections() == 0; }));
}

TEST(ServerDrain, ClosesIdleConnectionsAndFinishesRequests) {
    TestServer server;
    auto idle = server.connect();
    ASSERT_TRUE(idle.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"));
    EXPECT_EQ(body_of(test::receive_response(idle)), "GET /x|");
    auto busy = server.connect();
    ASSERT_TRUE(busy.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"));
    ASSERT_TRUE(eventually([&] { return server.observed.requests == 2; }));
    server.call([](Server& inner) {
        inner.begin_drain();
        return 0;
    });
    EXPECT_EQ(idle.receive_to_end(), "");
    EXPECT_EQ(idle.failure(), 0);  // closed, and not only silent
    ASSERT_TRUE(busy.send("hello"));
    const auto all = busy.receive_to_end();
    EXPECT_NE(all.find("Connection: close\r\n"), std::string::npos);
    EXPECT_EQ(body_of(all), "POST /echo|hello");
}

TEST(ServerDrain, ServesARequestThatWasUnderWayWhenItBegan) {
    TestServer server;
    auto client = server.connect();
    ASSERT_TRUE(eventually([&] { return server.connections() == 1; }));
    server.call([](Server& inner) {
        inner.begin_drain();
        return 0;
    });
    ASSERT_TRUE(client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"));
    EXPECT_EQ(body_of(client.receive_to_end()), "GET /x|");
}

TEST(ServerDrain, CutsWhatIsLeftAtTheDeadline) {
    TestServer server;
    auto held = server.connect();
    ASSERT_TRUE(held.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"));
    ASSERT_TRUE(held.receive_until("held\r\n").ends_with("held\r\n"));
    auto halfway = server.connect();
    ASSERT_TRUE(halfway.send("GET /x HT"));
    auto stalled = server.connect(16 * 1024);
    ASSERT_TRUE(stalled.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n"));
    ASSERT_TRUE(eventually([&] { return server.connections() == 3; }));
    const auto started = std::chrono::steady_clock::now();
    server.stop(50ms);
    EXPECT_LT(std::chrono::steady_clock::now() - started, 5s);  // no timeout of a connection was waited for
    EXPECT_EQ(server.observed.clients_gone, 1);
    EXPECT_FALSE(held.receive_to_end().ends_with("0\r\n\r\n"));
    EXPECT_FALSE(stalled.receive_to_end().ends_with("0\r\n\r\n"));
}

TEST(ServerLimits, CanBeChangedWhileItServes) {
    TestServer server;
    server.call([](Server& inner) {
        inner.set_limits({.body_bytes = 3});
        return 0;
    });
    EXPECT_TRUE(
        server.talk("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd").starts_with("HTTP/1.1 413 "));
}

}  // namespace
}  // namespace weir::http
