// The client with long and recorded responses, answers that come too early, and several exchanges at once.
#include "http/client.h"
#include "http/test_client.h"
#include "http/test_data.h"
#include "io/cancel.h"
#include "io/task_group.h"

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

class ClientStreamTest : public ClientTest {};

std::string large_request() {
    return "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n" + std::string(20'000'000, 'x');
}

TEST_F(ClientStreamTest, SendsALargeRequest) {
    ScriptedPeer peer{[](BlockingListener& listener) {
        auto socket = listener.accept();
        const auto wanted = large_request().size();
        std::size_t bytes = 0;
        while (bytes < wanted) {
            const auto more = socket.receive();
            if (more.empty()) break;
            bytes += more.size();
        }
        EXPECT_EQ(bytes, wanted);
        socket.send("HTTP/1.1 204 No Content\r\n\r\n");
        socket.receive();
    }};
    const auto answer = ask(peer.port(), large_request());
    EXPECT_EQ(answer.status, 204) << answer.message;
    EXPECT_EQ(pool_->idle(), 1U);
    pool_->close_idle();
}

TEST_F(ClientStreamTest, ReadsAnAnswerThatComesBeforeTheRequestIsSent) {
    const std::string refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig";
    for (const std::string& before : {std::string{}, std::string{"HTTP/1.1 100 Continue\r\n\r\n"}}) {
        ScriptedPeer peer{[&](BlockingListener& listener) {
            auto socket = listener.accept();
            socket.receive_until("\r\n\r\n");
            socket.send(before + refusal);
            while (!socket.receive().empty()) {}
        }};
        const auto answer = ask(peer.port(), large_request());
        EXPECT_EQ(answer.status, 413) << answer.message;
        EXPECT_EQ(answer.body, "big");
        EXPECT_EQ(pool_->idle(), 0U);
        io::block_on(*reactor_, pause(1ms));
    }
}

TEST_F(ClientStreamTest, ReadsAnAnswerOfAPeerThatNeverReadsTheRequest) {
    std::atomic<bool> answered = false;
    ScriptedPeer peer{[&](BlockingListener& listener) {
        auto socket = listener.accept();
        socket.receive_until("\r\n\r\n");
        socket.send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy");
        while (!answered)
            std::this_thread::yield();
    }};
    const auto answer = ask(peer.port(), large_request());
    EXPECT_EQ(answer.status, 503) << answer.message;
    EXPECT_EQ(answer.body, "busy");
    answered = true;
}

TEST_F(ClientStreamTest, ReadsAnAnswerThatIsFollowedByAReset) {
    ScriptedPeer peer{[](BlockingListener& listener) {
        auto socket = listener.accept();
        socket.receive_until("\r\n\r\n");
        socket.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno");
        socket.close();  // with unread bytes: the kernel sends a reset
    }};
    const auto answer = ask(peer.port(), large_request());
    if (answer.error)
        EXPECT_EQ(*answer.error, base::ErrorCode::closed);
    else
        EXPECT_EQ(answer.body, "no");
}

TEST_F(ClientStreamTest, GivesUpSendingAtItsDeadline) {
    std::atomic<bool> over = false;
    ScriptedPeer peer{[&](BlockingListener& listener) {
        auto socket = listener.accept();
        while (!over)
            std::this_thread::yield();
    }};
    const auto answer = ask(peer.port(), large_request(), 50ms);
    EXPECT_EQ(answer.error, base::ErrorCode::timeout) << answer.message;
    over = true;
}

TEST_F(ClientStreamTest, EndsAWaitWhenItIsCancelled) {
    ScriptedPeer peer{[](BlockingListener& listener) {
        auto socket = listener.accept();
        serve(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
        EXPECT_EQ(socket.receive(), "");  // the connection is closed
    }};
    io::Cancel cancel;
    const auto read = [](ClientPool& pool, Origin origin, io::Cancel& stop) -> io::Task<std::string> {
        auto exchange = co_await pool.open(origin, false, {});
        const std::array<std::string_view, 1> slices = {request};
        const base::Status sent = co_await exchange->send(slices, {});
        const auto head = co_await exchange->read_head({});
        const auto first = co_await exchange->read_body({});
        if (!sent || !head || !first) co_return "failed";
        stop.fire();
        const auto second = co_await exchange->read_body({.deadline = base::never, .cancel = &stop});
        co_return second ? std::string{"read"} : std::string{base::to_string(second.error().code())};
    };
    EXPECT_EQ(io::block_on(*reactor_, read(*pool_, origin_of(peer.port()), cancel)), "cancelled");
    EXPECT_EQ(pool_->idle(), 0U);
    io::block_on(*reactor_, pause(1ms));
}

TEST_F(ClientStreamTest, MayOutliveItsPool) {
    ScriptedPeer peer{[](BlockingListener& listener) {
        auto socket = listener.accept();
        serve(socket, "HTTP/1.1 204 No Content\r\n\r\n");
        EXPECT_EQ(socket.receive(), "");
    }};
    const auto use = [](ClientTest& test, std::unique_ptr<ClientPool>& pool, Origin origin) -> io::Task<void> {
        static_cast<void>(test);
        auto exchange = co_await pool->open(origin, false, {});
        pool.reset();
        const std::array<std::string_view, 1> slices = {request};
        const base::Status sent = co_await exchange->send(slices, {});
        const auto head = co_await exchange->read_head({});
        const auto part = co_await exchange->read_body({});
        EXPECT_TRUE(sent.has_value() && head.has_value() && part.has_value());
    };
    io::block_on(*reactor_, use(*this, pool_, origin_of(peer.port())));
    io::block_on(*reactor_, pause(1ms));
}

// Each stream is of one letter, in chunks of odd sizes; all are read at once through the one shared buffer.
TEST_F(ClientStreamTest, KeepsTheBytesOfSeveralStreamsApart) {
    constexpr int streams = 8;
    ScriptedPeer peer{[](BlockingListener& listener) {
        std::vector<BlockingSocket> sockets;
        for (int stream = 0; stream < streams; ++stream)
            sockets.push_back(listener.accept());
        for (auto& socket : sockets)
            serve(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (std::size_t round = 1; round < 300; ++round) {
            for (std::size_t stream = 0; stream < sockets.size(); ++stream) {
                const std::string data(round, static_cast<char>('a' + stream));
                sockets[stream].send(std::string{ChunkOpening{round}.text()} + data + "\r\n");
            }
        }
        for (auto& socket : sockets)
            socket.send(last_chunk);
    }};
    io::TaskGroup group{*reactor_, [](std::exception_ptr) { ADD_FAILURE(); }};
    int whole = 0;
    const auto read = [](ClientPool& pool, Origin origin, int& count) -> io::Task<void> {
        auto exchange = co_await pool.open(origin, true, {});
        const std::array<std::string_view, 1> slices = {request};
        const base::Status sent = co_await exchange->send(slices, {});
        const auto head = co_await exchange->read_head({});
        if (!sent || !head) co_return;
        std::string body;
        for (bool end = false; !end;) {
            const auto part = co_await exchange->read_body({});
            if (!part) co_return;
            body += part->bytes;
            end = part->end;
        }
        if (body == std::string(299 * 300 / 2, body.front())) ++count;
    };
    for (int stream = 0; stream < streams; ++stream)
        group.spawn(read(*pool_, origin_of(peer.port()), whole));
    EXPECT_TRUE(io::block_on(*reactor_, group.wait_empty({.deadline = reactor_->now() + 20s})).has_value());
    EXPECT_EQ(whole, streams);
    pool_->close_idle();
}

// The recorded reads, from `"reads": [[ms, offset, bytes], ..., [ms, offset, "eof"]]`.
std::vector<std::string> recorded_pieces(const std::string& name, const std::string& bytes) {
    const auto timeline = test::read_file(test::recordings_directory() / (name + ".timeline.json"));
    std::vector<std::string> pieces;
    for (auto at = timeline.find("[["); at != std::string::npos; at = timeline.find('[', at + 2)) {
        const auto first_comma = timeline.find(',', at);
        const auto size_at = timeline.find(',', first_comma + 1) + 2;
        if (timeline[size_at] == '"') break;  // how it ended: "eof", "timeout"
        pieces.push_back(
            bytes.substr(std::stoul(timeline.substr(first_comma + 1)), std::stoul(timeline.substr(size_at))));
    }
    return pieces;
}

bool is_truncated(const std::string& name) {
    return name == "71-half-close-chat-stream" || name.starts_with("85-") || name.starts_with("86-");
}

class RecordingTest : public ClientTest {
protected:
    void play(const std::string& name, const std::vector<std::string>& pieces) {
        SCOPED_TRACE(name);
        ScriptedPeer peer{[&pieces](BlockingListener& listener) {
            auto socket = listener.accept();
            socket.receive_until("\r\n\r\n");
            for (const auto& piece : pieces)
                socket.send(piece);
        }};
        const bool to_head = name == "65-head-health";
        const auto answer =
            ask(peer.port(), to_head ? "HEAD /health HTTP/1.1\r\nHost: a\r\n\r\n" : std::string{request});
        EXPECT_EQ(answer.error.has_value(), is_truncated(name)) << answer.message;
        if (answer.error) EXPECT_EQ(*answer.error, base::ErrorCode::closed);
        EXPECT_EQ(answer.body, test::recorded_payload(name));
        pool_->close_idle();
        io::block_on(*reactor_, pause(1ms));
    }
};

TEST_F(RecordingTest, IsReadAsItWasReadWhenItWasRecorded) {
    for (const auto& name : test::recording_names()) {
        const auto bytes = test::recorded_response(name);
        const auto pieces = recorded_pieces(name, bytes);
        std::string joined;
        for (const auto& piece : pieces)
            joined += piece;
        ASSERT_EQ(joined, bytes) << name;
        play(name, pieces);
    }
}

TEST_F(RecordingTest, IsReadWholeAndByteByByteAlike) {
    for (const std::string name : {"10-chat-stream-usage-spec", "07-chat-nonstream-base", "68-expect-100",
                                   "86-sigkill-midstream-spec", "32-completions-stream-emoji-spec"}) {
        const auto bytes = test::recorded_response(name);
        play(name, {bytes});
        std::vector<std::string> single;
        for (const char c : bytes)
            single.emplace_back(1, c);
        play(name, single);
    }
}

TEST_F(RecordingTest, IsReadAlikeInRandomPieces) {
    const auto seed = test::test_seed();
    SCOPED_TRACE(testing::Message() << "WEIR_TEST_SEED=" << seed);
    std::mt19937 random{seed};
    for (const auto& name : test::recording_names())
        play(name, test::random_pieces(test::recorded_response(name), random));
}

}  // namespace
}  // namespace weir::http
