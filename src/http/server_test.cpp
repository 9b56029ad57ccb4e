// The server against plain clients on the loopback: what a well-behaved client sees.
#include "http/server.h"

#include "http/test_data.h"
#include "http/test_server.h"

#include <gtest/gtest.h>

namespace weir::http {
namespace {

using test::body_of;
using test::eventually;
using test::receive_response;
using test::TestServer;

std::string get(const std::string& path, const std::string& fields = "") {
    return "GET " + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
}

std::string post(const std::string& body, const std::string& fields = "") {
    return "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + fields +
           "\r\n" + body;
}

bool has_line(const std::string& response, const std::string& line) {
    return response.substr(0, response.find("\r\n\r\n") + 2).find("\r\n" + line + "\r\n") != std::string::npos;
}

TEST(Server, AnswersSeveralRequestsOnOneConnection) {
    TestServer server;
    auto client = server.connect();
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(client.send(post("hello")));
        const auto response = receive_response(client);
        EXPECT_TRUE(response.starts_with("HTTP/1.1 200 OK\r\nDate: ")) << response;
        EXPECT_FALSE(has_line(response, "Connection: close"));
        EXPECT_EQ(body_of(response), "POST /echo|hello");
    }
    EXPECT_EQ(server.connections(), 1U);
}

TEST(Server, TakesHeadAndBodyByteByByte) {
    TestServer server;
    auto client = server.connect();
    const std::string chunked =
        "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\nT: v\r\n\r\n";
    for (const auto& [request, answer] : {std::pair{post("hello"), "POST /echo|hello"}, {chunked, "POST /c|abcde"}}) {
        for (const char c : request)
            ASSERT_TRUE(client.send(std::string(1, c)));
        EXPECT_EQ(body_of(receive_response(client)), answer);
    }
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
    TestServer server;
    auto client = server.connect();
    ASSERT_TRUE(client.send(post("one") + get("/stream") + post("three", "Connection: close\r\n")));
    const auto all = client.receive_to_end();
    const auto one = all.find("POST /echo|one");
    const auto two = all.find("data: two");
    const auto three = all.find("POST /echo|three");
    EXPECT_NE(one, std::string::npos);
    EXPECT_LT(one, two);
    EXPECT_LT(two, three);
    EXPECT_NE(three, std::string::npos);
    EXPECT_EQ(server.observed.requests, 3);
}

TEST(Server, KeepsPipelinedBytesBehindAChunkedBody) {
    TestServer server;
    const auto all =
        server.talk("POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n" +
                    get("/next", "Connection: close\r\n"));
    EXPECT_NE(all.find("POST /c|x"), std::string::npos);
    EXPECT_NE(all.find("GET /next|"), std::string::npos);
}

TEST(Server, IgnoresOneBlankLineBeforeARequest) {
    TestServer server;
    auto client = server.connect();
    ASSERT_TRUE(client.send(post("one") + "\r\n"));
    EXPECT_EQ(body_of(receive_response(client)), "POST /echo|one");
    ASSERT_TRUE(client.send(post("two")));
    EXPECT_EQ(body_of(receive_response(client)), "POST /echo|two");
}

TEST(Server, ReadsABodyOfMegabytesInBothFramings) {
    TestServer server;
    std::string body(5'000'000, 'x');
    for (std::size_t at = 0; at < body.size(); at += 1000)
        body[at] = static_cast<char>('a' + at / 1000 % 26);
    auto client = server.connect();
    ASSERT_TRUE(client.send(post(body)));
    EXPECT_EQ(body_of(receive_response(client)), "POST /echo|" + body);
    std::string chunked = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (std::size_t at = 0; at < body.size(); at += 50'000) {
        chunked += std::string{ChunkOpening{50'000}.text()} + body.substr(at, 50'000) + "\r\n";
    }
    ASSERT_TRUE(client.send(chunked + "0\r\n\r\n"));
    EXPECT_EQ(body_of(receive_response(client)), "POST /c|" + body);
}

TEST(Server, StreamsInChunks) {
    TestServer server;
    auto client = server.connect();
    ASSERT_TRUE(client.send(get("/stream")));
    const auto response = receive_response(client);
    EXPECT_TRUE(has_line(response, "Transfer-Encoding: chunked"));
    EXPECT_TRUE(has_line(response, "Content-Type: text/event-stream"));
    EXPECT_EQ(body_of(response), "b\r\ndata: one\n\n\r\nb\r\ndata: two\n\n\r\n0\r\n\r\n");
}

TEST(Server, SendsHeadAndFirstChunkInOneWrite) {
    TestServer server;
    auto client = server.connect();
    ASSERT_TRUE(client.send(get("/hold")));
    const auto first_read = client.receive();
    EXPECT_TRUE(first_read.ends_with("\r\n\r\n4\r\nheld\r\n")) << first_read;
}

TEST(Server, AnswersHeadWithoutABody) {
    TestServer server;
    auto client = server.connect();
    ASSERT_TRUE(client.send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\nHEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n" +
                            get("/last", "Connection: close\r\n")));
    const auto all = client.receive_to_end();
    EXPECT_EQ(all.find("HEAD /x|"), std::string::npos);
    EXPECT_NE(all.find("Content-Length: 8\r\n"), std::string::npos);
    EXPECT_EQ(all.find("data: one"), std::string::npos);
    EXPECT_NE(all.find("GET /last|"), std::string::npos);
}

TEST(Server, SendsNeitherBodyNorLengthWith204) {
    TestServer server;
    const auto all = server.talk(get("/empty", "Connection: close\r\n"));
    EXPECT_TRUE(all.starts_with("HTTP/1.1 204 No Content\r\n"));
    EXPECT_EQ(all.find("Content-Length"), std::string::npos);
    EXPECT_EQ(body_of(all), "");
}

TEST(Server, SpeaksHttp10) {
    TestServer server;
    const auto closed = server.talk("GET /x HTTP/1.0\r\n\r\n");
    EXPECT_TRUE(has_line(closed, "Connection: close")) << closed;
    EXPECT_EQ(body_of(closed), "GET /x|");
    const auto streamed = server.talk("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(streamed.find("chunked"), std::string::npos);
    EXPECT_EQ(body_of(streamed), "data: one\n\ndata: two\n\n");
    auto kept = server.connect();
    ASSERT_TRUE(kept.send("GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    EXPECT_TRUE(has_line(receive_response(kept), "Connection: keep-alive"));
    ASSERT_TRUE(kept.send("GET /y HTTP/1.0\r\n\r\n"));
    EXPECT_EQ(body_of(receive_response(kept)), "GET /y|");
}

TEST(Server, ContinuesOnlyWhenTheBodyIsRead) {
    TestServer server;
    auto client = server.connect();
    const std::string fields = "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n";
    ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\n" + fields));
    EXPECT_EQ(client.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    ASSERT_TRUE(client.send("hello"));
    EXPECT_EQ(body_of(receive_response(client)), "POST /echo|hello");
    ASSERT_TRUE(client.send("POST /early HTTP/1.1\r\nHost: a\r\n" + fields));
    const auto refused = client.receive_to_end();
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 401 Unauthorized\r\n")) << refused;
    EXPECT_TRUE(has_line(refused, "Connection: close"));
}

TEST(Server, DoesNotContinueWhenTheBodyIsComingAlready) {
    TestServer server;
    auto client = server.connect();
    ASSERT_TRUE(client.send(post("hello", "Expect: 100-continue\r\n")));
    EXPECT_TRUE(receive_response(client).starts_with("HTTP/1.1 200 OK"));
    ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhe"));
    ASSERT_TRUE(eventually([&] { return server.observed.requests == 2; }));
    ASSERT_TRUE(client.send("llo"));
    EXPECT_TRUE(receive_response(client).starts_with("HTTP/1.1 200 OK"));
}

TEST(Server, GoesOnBehindAnEarlyAnswerWhenTheBodyHasCome) {
    TestServer server;
    auto client = server.connect();
    ASSERT_TRUE(client.send("POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"));
    EXPECT_FALSE(has_line(receive_response(client), "Connection: close"));
    ASSERT_TRUE(client.send(get("/next")));
    EXPECT_EQ(body_of(receive_response(client)), "GET /next|");
}

TEST(Server, ReadsABodyBehindTheBeginningOfItsResponse) {
    for (const std::string expect : {"", "Expect: 100-continue\r\n"}) {
        TestServer server;
        auto client = server.connect();
        ASSERT_TRUE(client.send("POST /stream-to-body HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n" + expect + "\r\n"));
        const auto head = client.receive_until("\r\n\r\n");
        EXPECT_TRUE(has_line(head, "Connection: close")) << head;
        ASSERT_TRUE(client.send("hello" + get("/smuggled")));
        EXPECT_EQ(client.receive_to_end(), "5\r\nhello\r\n0\r\n\r\n");
        EXPECT_EQ(server.observed.requests, 1);
    }
}

TEST(Server, LeavesOutFieldsThatWouldSplitTheHead) {
    TestServer server;
    const auto all = server.talk(get("/inject", "Connection: close\r\n"));
    EXPECT_TRUE(has_line(all, "X-Good: 1"));
    EXPECT_TRUE(has_line(all, "Content-Length: 4"));
    EXPECT_EQ(all.find("X-Injected"), std::string::npos);
    EXPECT_EQ(all.find("X-Nul"), std::string::npos);
    EXPECT_EQ(all.find("X Name"), std::string::npos);
    EXPECT_EQ(all.find("99"), std::string::npos);
    EXPECT_EQ(body_of(all), "body");
}

TEST(Server, SurvivesAHandlerThatThrows) {
    TestServer server;
    const auto early = server.talk(get("/throw"));
    EXPECT_TRUE(early.starts_with("HTTP/1.1 500 Internal Server Error\r\n")) << early;
    EXPECT_TRUE(has_line(early, "Connection: close"));
    const auto late = server.talk(get("/throw-late"));
    EXPECT_TRUE(late.ends_with("4\r\nsome\r\n")) << late;  // cut: no last chunk
    EXPECT_EQ(server.observed.crashes, 2);
    EXPECT_NE(server.talk(get("/x", "Connection: close\r\n")).find("GET /x|"), std::string::npos);
}

TEST(Server, AnswersForAHandlerThatDoesNot) {
    TestServer server;
    EXPECT_TRUE(server.talk(get("/silent")).starts_with("HTTP/1.1 500 "));
}

TEST(Server, ShowsThatAStreamIsCut) {
    TestServer server;
    EXPECT_TRUE(server.talk(get("/abort")).ends_with("4\r\nsome\r\n"));
    // Without chunks only a reset can tell.
    auto old = server.connect();
    ASSERT_TRUE(old.send("GET /abort HTTP/1.0\r\n\r\n"));
    EXPECT_TRUE(old.receive_to_end().ends_with("some"));
    EXPECT_EQ(old.failure(), ECONNRESET);
}

TEST(Server, TellsTheHandlerThatTheClientHasGone) {
    TestServer server;
    const auto hold = [&server](auto leave) {
        const int before = server.observed.clients_gone;
        auto client = server.connect();
        ASSERT_TRUE(client.send(get("/hold")));
        ASSERT_TRUE(client.receive_until("held\r\n").ends_with("held\r\n"));
        leave(client);
        EXPECT_TRUE(eventually([&] { return server.observed.clients_gone == before + 1; }));
    };
    hold([](test::BlockingSocket& client) { client.finish_sending(); });
    hold([](test::BlockingSocket& client) { client.close(); });
    hold([](test::BlockingSocket& client) { client.reset(); });
    // The next request came with the first: it changes nothing.
    hold([](test::BlockingSocket& client) {
        client.send(get("/next"));
        client.finish_sending();
    });
    EXPECT_TRUE(eventually([&] { return server.connections() == 0; }));
}

TEST(Server, RefusesARequestThatEndsBeforeItIsWhole) {
    TestServer server;
    for (const std::string part :
         {"GET / HT", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel",
          "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"}) {
        auto client = server.connect();
        ASSERT_TRUE(client.send(part));
        client.finish_sending();
        EXPECT_TRUE(client.receive_to_end().starts_with("HTTP/1.1 400 Bad Request\r\n")) << part;
        EXPECT_EQ(server.observed.last_fault, static_cast<int>(Fault::client_closed));
    }
}

TEST(Server, SurvivesAResetWithinABody) {
    TestServer server;
    auto client = server.connect();
    ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\nhel"));
    ASSERT_TRUE(eventually([&] { return server.observed.requests == 1; }));
    client.reset();
    EXPECT_TRUE(eventually([&] { return server.connections() == 0; }));
    EXPECT_EQ(server.observed.last_fault, static_cast<int>(Fault::client_closed));
}

TEST(Server, SaysNothingToAConnectionWithoutARequest) {
    TestServer server;
    auto client = server.connect();
    client.finish_sending();
    EXPECT_EQ(client.receive_to_end(), "");
    EXPECT_EQ(server.observed.refused, 0);
}

// Whole connections of the SDKs, several requests on each, as one stream cut at random.
TEST(Server, AnswersEveryRequestOfARecordedConnection) {
    const auto seed = test::test_seed();
    SCOPED_TRACE(testing::Message() << "WEIR_TEST_SEED=" << seed);
    std::mt19937 random{seed};
    TestServer server;
    int expected = 0;
    for (const auto& entry : std::filesystem::directory_iterator{test::recordings_directory() / "sdk"}) {
        if (entry.path().extension() != ".request") continue;
        SCOPED_TRACE(entry.path());
        const auto stream = test::read_file(entry.path());
        const auto requests = test::count_of(stream, " HTTP/1.1\r\n");
        expected += static_cast<int>(requests);
        auto client = server.connect();
        for (const auto& piece : test::random_pieces(stream, random))
            ASSERT_TRUE(client.send(piece));
        std::string all;
        while (test::count_of(all, "HTTP/1.1 200 OK\r\nDate: ") < requests) {
            const auto more = client.receive();
            ASSERT_FALSE(more.empty()) << all;
            all += more;
        }
    }
    EXPECT_EQ(expected, 9);
    EXPECT_EQ(server.observed.requests, expected);
    EXPECT_EQ(server.observed.refused, 0);
}

TEST(Server, AcceptsTheRecordedRequestsOfTheSdks) {
    TestServer server;
    for (const auto& entry : std::filesystem::directory_iterator{test::recordings_directory() / "sdk-requests"}) {
        const auto request = test::read_file(entry.path());
        auto client = server.connect();
        for (const auto& piece : {request.substr(0, 100), request.substr(100)})
            ASSERT_TRUE(client.send(piece));
        const auto response = receive_response(client);
        EXPECT_TRUE(response.starts_with("HTTP/1.1 200 OK")) << entry.path();
        EXPECT_TRUE(response.ends_with("|" + body_of(request))) << entry.path();
    }
}

}  // namespace
}  // namespace weir::http
