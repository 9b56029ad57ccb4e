// A client pool on a reactor of the test's own thread, and one exchange as most tests need it. Only tests include
// this.
#pragma once

#include "http/client.h"
#include "http/test_socket.h"
#include "io/block_on.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace weir::http::test {

inline constexpr std::string_view request = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

struct Answer {
    int status = 0;
    std::string body = {};
    bool reused = false;
    std::uint64_t received_bytes = 0;
    std::optional<base::ErrorCode> error = std::nullopt;
    std::string message = {};
};

class ClientTest : public testing::Test {
protected:
    ClientTest() : reactor_{std::move(*io::Reactor::create())} { make_pool({}); }

    void make_pool(const ClientLimits& limits) { pool_ = std::make_unique<ClientPool>(*reactor_, limits); }
    [[nodiscard]] static Origin origin_of(std::uint16_t port) {
        return {.address = *io::SocketAddress::parse("127.0.0.1", port),
                .authority = "127.0.0.1:" + std::to_string(port)};
    }
    [[nodiscard]] io::Wait within(std::chrono::milliseconds time) const { return {.deadline = reactor_->now() + time}; }

    // One request, its response read to the end.
    Answer ask(std::uint16_t port, std::string bytes = std::string{request},
               std::chrono::milliseconds time = std::chrono::seconds{10}) {
        return io::block_on(*reactor_, exchange(port, std::move(bytes), time, false));
    }
    Answer ask_fresh(std::uint16_t port) {
        return io::block_on(*reactor_, exchange(port, std::string{request}, std::chrono::seconds{10}, true));
    }

    io::Task<Answer> exchange(std::uint16_t port, std::string bytes, std::chrono::milliseconds time, bool fresh) {
        const Origin origin = origin_of(port);
        auto opened = co_await pool_->open(origin, fresh, within(time));
        if (!opened) co_return failed({}, opened.error());
        Answer answer{.reused = opened->reused()};
        const std::array<std::string_view, 1> slices = {bytes};
        const base::Status sent = co_await opened->send(slices, within(time));
        if (!sent) co_return failed(answer, sent.error());
        const auto head = co_await opened->read_head(within(time));
        answer.received_bytes = opened->bytes_received();
        if (!head) co_return failed(answer, head.error());
        answer.status = (*head)->status;
        if (whole_limit_bytes_) {
            auto body = co_await opened->read_whole_body(*whole_limit_bytes_, within(time));
            answer.received_bytes = opened->bytes_received();
            if (!body) co_return failed(answer, body.error());
            read_ahead(*body);
            answer.body = *std::move(body);
            co_return answer;
        }
        for (bool end = false; !end;) {
            const auto part = co_await opened->read_body(within(time));
            answer.received_bytes = opened->bytes_received();
            if (!part) co_return failed(answer, part.error());
            answer.body += part->bytes;
            read_ahead(part->bytes);
            end = part->end;
        }
        co_return answer;
    }
    // Reads as simdjson does; AddressSanitizer objects when the promised bytes are not there.
    static void read_ahead(std::string_view bytes) {
        volatile char sum = 0;
        for (std::size_t at = 0; at < 64 && !bytes.empty(); ++at) {
            sum = static_cast<char>(sum + *(bytes.data() + bytes.size() + at));
        }
    }
    static Answer failed(Answer answer, const base::Error& error) {
        answer.error = error.code();
        answer.message = error.message();
        return answer;
    }
    // Lets the loop run until it is so, or the time is up.
    template <class Condition>
    bool eventually(Condition condition) {
        for (int attempt = 0; attempt < 1000 && !condition(); ++attempt)
            io::block_on(*reactor_, pause(std::chrono::milliseconds{5}));
        return condition();
    }
    // Two requests under way together; the second connection is the one used last.
    io::Task<void> ask_two_at_once(std::uint16_t port) {
        const Origin origin = origin_of(port);
        auto first = co_await pool_->open(origin, false, within(std::chrono::seconds{10}));
        auto second = co_await pool_->open(origin, false, within(std::chrono::seconds{10}));
        co_await finish(std::move(*first));
        co_await finish(std::move(*second));
    }
    io::Task<void> finish(Exchange exchange) {
        const std::array<std::string_view, 1> slices = {request};
        const base::Status sent = co_await exchange.send(slices, within(std::chrono::seconds{10}));
        const auto head = co_await exchange.read_head(within(std::chrono::seconds{10}));
        EXPECT_TRUE(sent.has_value() && head.has_value());
        const auto part = co_await exchange.read_body(within(std::chrono::seconds{10}));
        EXPECT_TRUE(part.has_value() && part->end);
    }
    io::Task<void> pause(std::chrono::milliseconds time) {
        const base::Status slept = co_await reactor_->sleep(within(time));
        EXPECT_TRUE(slept.has_value());
    }

    std::unique_ptr<io::Reactor> reactor_;
    std::unique_ptr<ClientPool> pool_;
    std::optional<std::size_t> whole_limit_bytes_;  // bodies are then read with one call
};

// Reads a request without a body, and answers.
inline void serve(BlockingSocket& socket, std::string_view response) {
    if (socket.receive_until("\r\n\r\n").ends_with("\r\n\r\n")) socket.send(response);
}

}  // namespace weir::http::test
