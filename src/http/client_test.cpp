// The client pool against scripted peers: reuse, framing, and everything a peer can do wrong.
#include "http/client.h"

#include "http/test_client.h"

#include <gtest/gtest.h>

#include <atomic>

namespace weir::http {
namespace {

using namespace std::chrono_literals;
using test::BlockingListener;
using test::BlockingSocket;
using test::ClientTest;
using test::request;
using test::ScriptedPeer;
using test::serve;

const std::string ok_hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

TEST_F(ClientTest, ReusesAConnectionForTheNextRequest) {
    ScriptedPeer peer{[](BlockingListener& listener) {
        auto socket = listener.accept();
        for (int count = 0; count < 3; ++count)
            serve(socket, ok_hello);
    }};
    for (int count = 0; count < 3; ++count) {
        const auto answer = ask(peer.port());
        EXPECT_EQ(answer.body, "hello") << answer.message;
        EXPECT_EQ(answer.reused, count > 0);
        EXPECT_EQ(answer.received_bytes, ok_hello.size());
    }
    pool_->close_idle();
    EXPECT_EQ(pool_->idle(), 0U);
}

TEST_F(ClientTest, OpensAFreshConnectionWhenAsked) {
    ScriptedPeer peer{[](BlockingListener& listener) {
        auto first = listener.accept();
        serve(first, ok_hello);
        auto second = listener.accept();
        serve(second, ok_hello);
    }};
    EXPECT_EQ(ask(peer.port()).body, "hello");
    EXPECT_FALSE(ask_fresh(peer.port()).reused);
    EXPECT_TRUE(eventually([&] { return pool_->idle() == 0; }));  // both were closed by the peer, which was noticed
}

struct FramingCase {
    std::string name;
    std::string response;
    std::string body = "hello";
    std::string request_bytes = std::string{request};
    bool kept = true;
    bool closes = false;  // the peer closes behind its response
};

TEST_F(ClientTest, ReadsEveryFraming) {
    const std::string head = "HTTP/1.1 200 OK\r\n";
    const std::string chunked = head + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
    const std::vector<FramingCase> cases = {
        {.name = "length", .response = ok_hello},
        {.name = "chunked", .response = chunked},
        {.name = "no body", .response = head + "Content-Length: 0\r\n\r\n", .body = ""},
        {.name = "no content", .response = "HTTP/1.1 204 No Content\r\n\r\n", .body = ""},
        {.name = "until close", .response = head + "\r\nhello", .kept = false, .closes = true},
        {.name = "to HEAD",
         .response = head + "Content-Length: 5\r\n\r\n",
         .body = "",
         .request_bytes = "HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n"},
        {.name = "behind informational heads",
         .response = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok_hello},
        {.name = "announced close",
         .response = head + "Connection: close\r\nContent-Length: 5\r\n\r\nhello",
         .kept = false},
        {.name = "bytes behind the response", .response = ok_hello + "HTTP/1.1 200 OK\r\n", .kept = false},
        {.name = "bytes behind the last chunk", .response = chunked + "x", .kept = false},
        {.name = "body behind a response without one",
         .response = "HTTP/1.1 204 No Content\r\n\r\nhello",
         .body = "",
         .kept = false},
        {.name = "HTTP/1.0", .response = "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", .kept = false},
        {.name = "Keep-Alive: max=1",
         .response = head + "Keep-Alive: timeout=5, max=1\r\nContent-Length: 5\r\n\r\nhello",
         .kept = false},
        {.name = "Keep-Alive: timeout=0",
         .response = head + "Keep-Alive: timeout=0\r\nContent-Length: 5\r\n\r\nhello",
         .kept = false},
        {.name = "Keep-Alive as llama.cpp sends it",
         .response = head + "Keep-Alive: timeout=5, max=100\r\nContent-Length: 5\r\n\r\nhello"},
    };
    for (const bool whole : {false, true}) {
        for (const auto& test : cases) {
            SCOPED_TRACE(test.name + (whole ? ", in one call" : ""));
            if (whole) whole_limit_bytes_ = test.body.size();
            make_pool({});
            ScriptedPeer peer{[&](BlockingListener& listener) {
                auto socket = listener.accept();
                serve(socket, test.response);
                if (test.closes)
                    socket.close();
                else
                    EXPECT_EQ(socket.receive(), "");  // until the client closes
            }};
            const auto answer = ask(peer.port(), test.request_bytes);
            EXPECT_FALSE(answer.error.has_value()) << answer.message;
            EXPECT_EQ(answer.body, test.body);
            EXPECT_EQ(pool_->idle(), test.kept ? 1U : 0U);
            pool_->close_idle();
            io::block_on(*reactor_, pause(1ms));  // descriptors are closed at the end of a turn
        }
    }
}

TEST_F(ClientTest, RefusesABodyOverTheLimit) {
    const std::string head = "HTTP/1.1 200 OK\r\n";
    for (const auto& response : {ok_hello, head + "Content-Length: 500\r\n\r\nhello", head + "\r\nhello",
                                 head + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n"}) {
        whole_limit_bytes_ = 4;
        ScriptedPeer peer{[&](BlockingListener& listener) {
            auto socket = listener.accept();
            serve(socket, response);
            EXPECT_EQ(socket.receive(), "");
        }};
        EXPECT_EQ(ask(peer.port()).error, base::ErrorCode::too_large) << response;
        EXPECT_EQ(pool_->idle(), 0U);
        io::block_on(*reactor_, pause(1ms));
    }
}

struct FailureCase {
    std::string name;
    std::string response;
    base::ErrorCode error;
};

TEST_F(ClientTest, TellsApartWhatAPeerDoesWrong) {
    const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    using enum base::ErrorCode;
    const std::vector<FailureCase> cases = {
        {"nothing at all", "", closed},
        {"half a head", "HTTP/1.1 200 OK\r\nContent-Le", closed},
        {"a body too short", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", closed},
        {"chunks without their end", chunked + "5\r\nhello\r\n", closed},
        {"a chunk too short", chunked + "6\r\nhello", closed},
        {"a malformed chunk", chunked + "5\r\nhello!\r\n0\r\n\r\n", protocol},
        {"a malformed head", "HTTP/1.1 200 OK\r\nX : y\r\n\r\n", protocol},
        {"another protocol", "SSH-2.0-OpenSSH\r\n\r\n", protocol},
        {"two framings", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         protocol},
        {"switching protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", protocol},
        {"a head over the limit", "HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x'), too_large},
    };
    for (const auto& test : cases) {
        SCOPED_TRACE(test.name);
        ScriptedPeer peer{[&](BlockingListener& listener) {
            auto socket = listener.accept();
            serve(socket, test.response);
            socket.finish_sending();
            socket.receive_to_end();
        }};
        const auto answer = ask(peer.port());
        ASSERT_TRUE(answer.error.has_value());
        EXPECT_EQ(*answer.error, test.error) << answer.message;
        EXPECT_EQ(answer.received_bytes == 0, test.response.empty());
        EXPECT_EQ(pool_->idle(), 0U);
        io::block_on(*reactor_, pause(1ms));
    }
}

TEST_F(ClientTest, ReportsAReset) {
    ScriptedPeer peer{[](BlockingListener& listener) {
        auto socket = listener.accept();
        socket.receive_until("\r\n\r\n");
        socket.reset();
    }};
    const auto answer = ask(peer.port());
    EXPECT_EQ(answer.error, base::ErrorCode::closed) << answer.message;
    EXPECT_EQ(answer.received_bytes, 0U);
}

TEST_F(ClientTest, ReportsARefusedConnection) {
    std::uint16_t port = 0;
    { port = BlockingListener{}.port(); }
    const auto answer = ask(port);
    EXPECT_EQ(answer.error, base::ErrorCode::upstream_failed);
    EXPECT_NE(answer.message.find("refused"), std::string::npos) << answer.message;
}

TEST_F(ClientTest, EndsAWaitAtItsDeadlineAndClosesTheConnection) {
    for (const std::string part : {"", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"}) {
        ScriptedPeer peer{[&part](BlockingListener& listener) {
            auto socket = listener.accept();
            serve(socket, part);
            EXPECT_EQ(socket.receive(), "");
        }};
        const auto answer = ask(peer.port(), std::string{request}, 50ms);
        EXPECT_EQ(answer.error, base::ErrorCode::timeout) << answer.message;
        EXPECT_EQ(pool_->idle(), 0U);
        io::block_on(*reactor_, pause(1ms));
    }
}

TEST_F(ClientTest, NoticesThatAnIdleConnectionWasClosed) {
    std::atomic<bool> close_now = false;
    ScriptedPeer peer{[&](BlockingListener& listener) {
        auto socket = listener.accept();
        serve(socket, ok_hello);
        while (!close_now)
            std::this_thread::yield();
        socket.close();
        auto next = listener.accept();
        serve(next, ok_hello);
    }};
    EXPECT_EQ(ask(peer.port()).body, "hello");
    EXPECT_EQ(pool_->idle(), 1U);
    close_now = true;
    EXPECT_TRUE(eventually([&] { return pool_->idle() == 0; }));
    const auto answer = ask(peer.port());
    EXPECT_EQ(answer.body, "hello");
    EXPECT_FALSE(answer.reused);
}

TEST_F(ClientTest, DropsAnIdleConnectionWithBytesThatNobodyAskedFor) {
    std::atomic<int> step = 0;
    ScriptedPeer peer{[&](BlockingListener& listener) {
        auto socket = listener.accept();
        serve(socket, ok_hello);
        while (step == 0)
            std::this_thread::yield();
        socket.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
        step = 2;
        auto next = listener.accept();
        serve(next, ok_hello);
    }};
    EXPECT_EQ(ask(peer.port()).body, "hello");
    step = 1;
    while (step != 2)
        std::this_thread::yield();
    io::block_on(*reactor_, pause(20ms));
    const auto answer = ask(peer.port());
    EXPECT_EQ(answer.status, 200);
    EXPECT_FALSE(answer.reused);
}

TEST_F(ClientTest, ClosesWhatIsIdleTooLong) {
    make_pool({.idle_timeout = 50ms});
    ScriptedPeer peer{[](BlockingListener& listener) {
        auto socket = listener.accept();
        serve(socket, ok_hello);
        EXPECT_EQ(socket.receive(), "");  // the client closes it, without anything else going on
    }};
    EXPECT_EQ(ask(peer.port()).body, "hello");
    EXPECT_EQ(pool_->idle(), 1U);
    EXPECT_TRUE(eventually([&] { return pool_->idle() == 0; }));
}

TEST_F(ClientTest, ClosesBeforeThePeerWould) {
    ScriptedPeer peer{[](BlockingListener& listener) {
        auto socket = listener.accept();
        serve(socket, "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n");
        socket.set_timeout(900ms);
        EXPECT_EQ(socket.receive(), "");
        EXPECT_EQ(socket.failure(), 0);  // the client was first
    }};
    EXPECT_EQ(ask(peer.port()).status, 200);
    EXPECT_EQ(pool_->idle(), 1U);
    EXPECT_TRUE(eventually([&] { return pool_->idle() == 0; }));
}

TEST_F(ClientTest, LeavesAConnectionBeforeItsLastPromisedRequest) {
    const std::string response = "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=3\r\nContent-Length: 0\r\n\r\n";
    ScriptedPeer peer{[&](BlockingListener& listener) {
        auto first = listener.accept();
        for (int count = 0; count < 3; ++count)
            serve(first, response);
        auto second = listener.accept();  // while the first is still open
        serve(second, response);
    }};
    std::string reused;
    for (int count = 0; count < 4; ++count)
        reused += ask(peer.port()).reused ? 'r' : 'n';
    EXPECT_EQ(reused, "nrrn");
    pool_->close_idle();
}

TEST_F(ClientTest, TakesTheConnectionThatWasUsedLast) {
    ScriptedPeer peer{[](BlockingListener& listener) {
        auto first = listener.accept();
        auto second = listener.accept();
        serve(first, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst");
        serve(second, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond");
        serve(second, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nagain");
    }};
    io::block_on(*reactor_, ask_two_at_once(peer.port()));
    EXPECT_EQ(pool_->idle(), 2U);
    const auto answer = ask(peer.port());
    EXPECT_EQ(answer.body, "again");
    pool_->close_idle();
}

}  // namespace
}  // namespace weir::http
