#include "bench/upstream.h"

#include "http/head_parser.h"
#include "http/head_scanner.h"

#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <span>

namespace weir::bench {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;
constexpr std::size_t most_request_bytes = 1024 * 1024;
constexpr std::chrono::minutes patience{60};  // longer than any gateway keeps an idle connection in a measurement

// A fraction of the interval for each stream, evenly spread however many there are (golden ratio), so that they do not
// all send in one moment.
base::Nanoseconds phase(std::uint64_t stream, base::Nanoseconds interval) {
    constexpr double golden = 0.6180339887498949;
    const double turns = static_cast<double>(stream) * golden;
    return base::Nanoseconds{
        static_cast<std::int64_t>((turns - std::floor(turns)) * static_cast<double>(interval.count()))};
}

}  // namespace

struct Upstream::Connection {
    io::Socket socket;
    io::Cancel gone{};
    std::string request{};      // from the head's first byte on
    std::string path{};
    std::size_t head_bytes = 0;
    std::size_t body_bytes = 0;
    [[nodiscard]] std::string_view body() const { return std::string_view{request}.substr(head_bytes, body_bytes); }
};

Upstream::Upstream(io::Reactor& reactor, int listening_descriptor)
    : reactor_{reactor},
      tasks_{reactor, [](std::exception_ptr) { std::terminate(); }},
      buffer_{std::make_unique<char[]>(buffer_bytes)},
      acceptor_{reactor, listening_descriptor, [this](int descriptor) { tasks_.spawn(serve(descriptor)); }} {}

io::Task<void> Upstream::serve(int descriptor) {
    auto socket = io::Socket::adopt(reactor_, descriptor);
    if (!socket) co_return;
    Connection connection{.socket = *std::move(socket)};
    connection.socket.on_peer_finished([&connection] { connection.gone.fire(); });
    while (true) {
        const bool complete = co_await read_request(connection);
        if (!complete) break;
        const bool sent = co_await answer(connection);
        if (!sent) break;
        connection.request.erase(0, connection.head_bytes + connection.body_bytes);
    }
    connection.socket.on_peer_finished(nullptr);
}

io::Task<bool> Upstream::read_request(Connection& connection) {
    http::HeadScanner scanner;
    connection.head_bytes = 0;
    connection.body_bytes = 0;
    while (connection.request.size() < most_request_bytes) {
        if (connection.head_bytes == 0 && !connection.request.empty()) {
            const auto end = scanner.scan(connection.request);
            if (!end) break;
            if (*end > 0) {
                const auto head = http::parse_request_head(std::string_view{connection.request}.substr(0, *end));
                if (!head || head->framing == http::Framing::chunked) break;
                connection.head_bytes = *end;
                connection.body_bytes = static_cast<std::size_t>(head->content_length);
                connection.path = head->path;
            }
        }
        if (connection.head_bytes > 0 && connection.request.size() >= connection.head_bytes + connection.body_bytes)
            co_return true;
        const auto count = connection.socket.try_read({buffer_.get(), buffer_bytes});
        if (!count || count->end_of_stream) co_return false;
        connection.request.append(buffer_.get(), count->bytes);
        if (!count->would_block) continue;
        const auto readable = co_await connection.socket.wait_readable({.deadline = reactor_.now() + patience});
        if (!readable) co_return false;
    }
    const bool told = co_await write(connection, answers_.bad_request);
    static_cast<void>(told);
    co_return false;
}

io::Task<bool> Upstream::answer(Connection& connection) {
    const std::string_view path = connection.path;
    if (path == "/v1/chat/completions") {
        const auto plan = find_plan(connection.body());
        if (!plan) co_return co_await write(connection, answers_.bad_request);
        if (plan->streams()) co_return co_await stream(connection, *plan);
        co_return co_await write(connection, answers_.whole);
    }
    if (path == "/health") co_return co_await write(connection, answers_.healthy);
    if (path == "/v1/models") co_return co_await write(connection, answers_.models);
    if (path == "/version") co_return co_await write(connection, answers_.version);
    if (path == "/metrics") co_return co_await write(connection, answers_.metrics);
    co_return co_await write(connection, answers_.not_found);
}

io::Task<bool> Upstream::stream(Connection& connection, Plan plan) {
    const bool with_usage = connection.body().find("\"include_usage\":true") != std::string_view::npos;
    const bool begun = co_await write(connection, answers_.stream_begin);
    if (!begun) co_return false;
    if (plan.kind == PlanKind::idle) {
        const bool sent = co_await write(connection, answers_.stamped(base::monotonic_now()));
        if (!sent) co_return false;
        const auto slept = co_await reactor_.sleep({.deadline = reactor_.now() + patience, .cancel = &connection.gone});
        static_cast<void>(slept);
        co_return false;
    }
    const bool all =
        plan.has_interval() ? co_await send_paced(connection, plan) : co_await send_burst(connection, plan);
    if (!all) co_return false;
    co_return co_await write(connection, with_usage ? answers_.stream_end_with_usage : answers_.stream_end);
}

io::Task<bool> Upstream::send_paced(Connection& connection, Plan plan) {
    base::Instant due = reactor_.now() + phase(streams_++, plan.interval);
    for (std::uint32_t i = 0; i < plan.chunks; ++i) {
        const auto slept = co_await reactor_.sleep({.deadline = due, .cancel = &connection.gone});
        if (!slept) co_return false;
        const auto now = base::monotonic_now();
        const auto event = plan.kind == PlanKind::varied ? answers_.stamped_and_varied(now) : answers_.stamped(now);
        const bool sent = co_await write(connection, event);
        if (!sent) co_return false;
        due += plan.interval;
    }
    co_return true;
}

io::Task<bool> Upstream::send_burst(Connection& connection, Plan plan) {
    const std::size_t chunk_bytes = answers_.burst.size() / answers_.burst_chunks;
    for (std::size_t left = plan.chunks; left > 0;) {
        const std::size_t now = std::min(left, answers_.burst_chunks);
        const bool sent = co_await write(connection, std::string_view{answers_.burst}.substr(0, now * chunk_bytes));
        if (!sent) co_return false;
        left -= now;
    }
    co_return true;
}

// `bytes` may change while this waits for the peer, so it takes a copy of what is left then.
io::Task<bool> Upstream::write(Connection& connection, std::string_view bytes) {
    std::string rest;
    while (true) {
        const iovec slice{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
        const auto count = connection.socket.try_writev(std::span{&slice, 1});
        if (!count) co_return false;
        bytes.remove_prefix(count->bytes);
        if (bytes.empty()) co_return true;
        if (!count->would_block) continue;
        std::string left{bytes};
        rest.swap(left);
        bytes = rest;
        const auto writable = co_await connection.socket.wait_writable(
            {.deadline = reactor_.now() + patience, .cancel = &connection.gone});
        if (!writable) co_return false;
    }
}

}  // namespace weir::bench
