// A Server on a thread of its own, with a Handler whose paths do what the tests need. Only tests include this.
#pragma once

#include "http/server.h"
#include "http/test_socket.h"
#include "io/listener.h"
#include "io/reactor.h"
#include "io/task_group.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace weir::http::test {

// What the handler saw; written by the server's thread, read by the test's.
struct Observed {
    std::atomic<int> requests{0};
    std::atomic<int> refused{0};  // reject() was called, or a body could not be read
    std::atomic<int> last_fault{-1};
    std::atomic<int> clients_gone{0};
    std::atomic<int> crashes{0};
    std::atomic<int> held{0};  // /hold requests in progress
    std::atomic<int> failed_writes{0};
    std::atomic<std::uint64_t> written_bytes{0};
};

inline int status_of(Fault fault) {
    switch (fault) {
        case Fault::malformed:
        case Fault::client_closed:
        case Fault::unsupported_version: return 400;
        case Fault::head_too_large: return 431;
        case Fault::body_too_large: return 413;
        case Fault::slow: return 408;
    }
    return 500;
}

class PathHandler final : public Handler {
public:
    PathHandler(io::Reactor& reactor, Observed& observed) : reactor_{reactor}, observed_{observed} {}

    io::Task<void> handle(RequestSource& source, ResponseSink& sink) override {
        ++observed_.requests;
        const std::string path{source.head().path};
        if (path == "/stream") return stream(sink);
        if (path == "/hold") return hold(source, sink);
        if (path == "/early") return answer(sink, 401, "no");
        if (path == "/big") return big(sink);
        if (path == "/big-in-time") {
            sink.finish_by(reactor_.now() + std::chrono::milliseconds{300});
            return big(sink);
        }
        if (path == "/throw") return fail_at_once(source);
        if (path == "/throw-late") return fail_late(sink);
        if (path == "/silent") return say_nothing();
        if (path == "/abort") return abort_midway(sink);
        if (path == "/empty") return no_content(sink);
        if (path == "/inject") return inject(sink);
        if (path == "/stream-to-body") return stream_before_body(source, sink);
        return echo(source, sink);
    }
    io::Task<void> reject(Fault fault, std::string message, ResponseSink& sink) override {
        ++observed_.refused;
        observed_.last_fault = static_cast<int>(fault);
        const base::Status sent = co_await sink.send(status_of(fault), {}, message);
        if (!sent) ++observed_.failed_writes;
    }
    io::Task<void> crashed(std::exception_ptr failure, ResponseSink& sink) override {
        ++observed_.crashes;
        co_await Handler::crashed(failure, sink);
    }

private:
    io::Task<void> answer(ResponseSink& sink, int status, std::string body) {
        const base::Status sent = co_await sink.send(status, {}, body);
        if (!sent) ++observed_.failed_writes;
    }
    // "METHOD TARGET|body"
    io::Task<void> echo(RequestSource& source, ResponseSink& sink) {
        std::string text = std::string{source.head().method} + " " + std::string{source.head().target} + "|";
        const auto body = co_await source.read_body();
        if (!body) {
            ++observed_.refused;
            observed_.last_fault = static_cast<int>(body.error().fault);
            co_await answer(sink, status_of(body.error().fault), body.error().message);
            co_return;
        }
        EXPECT_GE(body->capacity(), body->size() + 64);
        co_await answer(sink, 200, text + *body);
    }
    io::Task<void> stream(ResponseSink& sink) {
        const std::array<Field, 1> fields{Field{.name = "Content-Type", .value = "text/event-stream"}};
        sink.begin_stream(200, fields);
        const std::array<std::string_view, 3> first = {"data: ", "", "one\n\n"};
        base::Status written = co_await sink.write(first);
        written = co_await sink.write({});  // must not look like the end
        const std::array<std::string_view, 1> second = {"data: two\n\n"};
        written = co_await sink.end_stream(second);
        if (!written) ++observed_.failed_writes;
    }
    io::Task<void> hold(RequestSource& source, ResponseSink& sink) {
        sink.begin_stream(200, {});
        const std::array<std::string_view, 1> slices = {"held"};
        const base::Status written = co_await sink.write(slices);
        ++observed_.held;
        const base::Status slept = co_await reactor_.sleep({.deadline = base::never, .cancel = &source.client_gone()});
        --observed_.held;
        if (!slept && written) ++observed_.clients_gone;
        sink.abort();
    }
    // 8 MB in slices of 64 KB; what the server has taken is counted.
    io::Task<void> big(ResponseSink& sink) {
        const std::string block(64 * 1024, 'b');
        const std::array<std::string_view, 1> slices = {block};
        sink.begin_stream(200, {});
        for (int count = 0; count < 128; ++count) {
            const base::Status written = co_await sink.write(slices);
            if (!written) {
                ++observed_.failed_writes;
                co_return;
            }
            observed_.written_bytes = sink.bytes_sent();
        }
        const base::Status ended = co_await sink.end_stream({});
        if (!ended) ++observed_.failed_writes;
    }
    io::Task<void> fail_at_once(RequestSource& source) {
        const auto body = co_await source.read_body();
        throw std::runtime_error{"a bug"};
    }
    io::Task<void> fail_late(ResponseSink& sink) {
        sink.begin_stream(200, {});
        const std::array<std::string_view, 1> slices = {"some"};
        const base::Status written = co_await sink.write(slices);
        throw std::runtime_error{"a bug"};
    }
    io::Task<void> say_nothing() { co_return; }
    io::Task<void> abort_midway(ResponseSink& sink) {
        sink.begin_stream(200, {});
        const std::array<std::string_view, 1> slices = {"some"};
        const base::Status written = co_await sink.write(slices);
        sink.abort();
        const base::Status refused = co_await sink.write(slices);
        EXPECT_FALSE(refused.has_value());
    }
    io::Task<void> no_content(ResponseSink& sink) {
        const base::Status sent = co_await sink.send(204, {}, "never sent");
        if (!sent) ++observed_.failed_writes;
    }
    io::Task<void> inject(ResponseSink& sink) {
        const std::array<Field, 5> fields{
            Field{.name = "X-Good", .value = "1"}, Field{.name = "X-Bad", .value = "1\r\nX-Injected: 1"},
            Field{.name = "X-Nul", .value = std::string_view{"a\0b", 3}}, Field{.name = "X Name", .value = "1"},
            Field{.name = "Content-Length", .value = "99"}};
        const base::Status sent = co_await sink.send(200, fields, "body");
        if (!sent) ++observed_.failed_writes;
    }
    io::Task<void> stream_before_body(RequestSource& source, ResponseSink& sink) {
        sink.begin_stream(200, {});
        const base::Status written = co_await sink.write({});
        const auto body = co_await source.read_body();
        const std::array<std::string_view, 1> slices = {body ? std::string_view{*body} : std::string_view{"failed"}};
        const base::Status ended = co_await sink.end_stream(slices);
        if (!ended) ++observed_.failed_writes;
    }

    io::Reactor& reactor_;
    Observed& observed_;
};

class TestServer {
public:
    explicit TestServer(ServerLimits limits = {}) {
        std::promise<std::uint16_t> port;
        auto known = port.get_future();
        thread_ = std::thread{[this, limits, &port] { run(limits, port); }};
        port_ = known.get();
    }
    TestServer(const TestServer&) = delete;
    TestServer& operator=(const TestServer&) = delete;
    ~TestServer() { stop(std::chrono::seconds{5}); }

    [[nodiscard]] BlockingSocket connect(int receive_buffer_bytes = 0) const {
        return BlockingSocket::connect(port_, receive_buffer_bytes);
    }
    // Sends the bytes and ends; returns all that comes back until the server closes.
    std::string talk(std::string_view bytes) const {
        auto client = connect();
        client.send(bytes);
        auto all = client.receive_to_end();
        EXPECT_EQ(client.failure(), 0) << "the server has not closed the connection in an orderly way";
        return all;
    }
    // Runs `work` on the server's thread and waits for it.
    template <class Work>
    auto call(Work work) {
        std::promise<decltype(work(*server_))> done;
        reactor_->post([&] { done.set_value(work(*server_)); });
        return done.get_future().get();
    }
    std::size_t connections() {
        return call([](Server& server) { return server.connections(); });
    }
    // Drains, waits for the end of all connections, and joins the thread. Idempotent.
    void stop(std::chrono::milliseconds patience) {
        if (!thread_.joinable()) return;
        reactor_->post([this, patience] { stopping_->spawn(drain(patience)); });
        thread_.join();
    }
    Observed observed;

private:
    void run(const ServerLimits& limits, std::promise<std::uint16_t>& port) {
        reactor_ = std::move(*io::Reactor::create());
        auto listeners = io::ListenerSet::open(*io::SocketAddress::parse("127.0.0.1", 0), 1);
        ASSERT_TRUE(listeners.has_value());
        PathHandler handler{*reactor_, observed};
        stopping_ = std::make_unique<io::TaskGroup>(*reactor_, [](std::exception_ptr) { ADD_FAILURE(); });
        server_ = std::make_unique<Server>(*reactor_, handler, limits);
        acceptor_ =
            std::make_unique<io::Acceptor>(*reactor_, listeners->take(0), [this](int fd) { server_->adopt(fd); });
        port.set_value(listeners->address().port());
        reactor_->run();
        EXPECT_EQ(server_->connections(), 0U);
        acceptor_.reset();
        server_.reset();
        stopping_.reset();
        reactor_.reset();
    }
    io::Task<void> drain(std::chrono::milliseconds patience) {
        acceptor_->drain_and_close();
        co_await server_->finish_drain(reactor_->now() + patience);
        reactor_->post([this] { reactor_->stop(); });
    }

    std::uint16_t port_ = 0;
    std::unique_ptr<io::Reactor> reactor_;
    std::unique_ptr<Server> server_;
    std::unique_ptr<io::Acceptor> acceptor_;
    std::unique_ptr<io::TaskGroup> stopping_;
    std::thread thread_;
};

// Waits (bounded) until the server's thread has made it true.
template <class Condition>
bool eventually(Condition condition) {
    for (int attempt = 0; attempt < 2000; ++attempt) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return false;
}

}  // namespace weir::http::test
