#include "http/client_state.h"
#include "http/exchange.h"
#include "http/padding.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace weir::http {
namespace {

// The peer counts from when it sent, we from when we read: closing must be ours.
constexpr std::chrono::seconds keep_alive_margin{1};

std::chrono::milliseconds idle_time(const ClientLimits& limits, const ResponseHead& response) noexcept {
    if (!response.keep_alive_timeout_s) return limits.idle_timeout;
    const auto promised = std::chrono::milliseconds{std::chrono::seconds{*response.keep_alive_timeout_s}};
    return std::min(limits.idle_timeout, std::max(promised - keep_alive_margin, promised / 4));
}

// Whether the peer said that it will not answer another request on this connection.
bool used_up(ClientConnection& connection, const ResponseHead& response) noexcept {
    if (!response.keep_alive_max) return false;
    const auto most = static_cast<std::uint32_t>(*response.keep_alive_max);
    if (!connection.most_exchanges) connection.most_exchanges = most;
    return most <= 1 || connection.served + 1 >= *connection.most_exchanges;
}

// Bytes that nobody asked for, or the end of the stream, make an idle connection useless.
bool has_stray_input(ClientConnection& connection) noexcept {
    if (connection.socket.peer_finished()) return true;
    if (!connection.socket.may_be_readable()) return false;
    char byte = 0;
    const auto count = connection.socket.try_read({&byte, 1});
    return !count || !count->would_block;
}

base::Error unreachable(const Origin& origin, const base::Error& error) {
    return {base::ErrorCode::upstream_failed, origin.authority + ": " + error.message()};
}

io::Task<base::Result<Exchange>> connect(std::shared_ptr<ClientPool::State> pool, Origin origin, io::Wait wait) {
    auto socket = io::Socket::start_connect(pool->reactor, origin.address);
    if (!socket) co_return std::unexpected{unreachable(origin, socket.error())};
    const base::Status writable = co_await socket->wait_writable(wait);
    if (!writable) co_return std::unexpected{base::Error{writable.error()}.within("connect to " + origin.authority)};
    const base::Status connected = socket->connect_status();
    if (!connected) co_return std::unexpected{unreachable(origin, connected.error())};
    auto connection = std::make_unique<ClientConnection>();
    connection->socket = std::move(*socket);
    connection->authority = std::move(origin.authority);
    co_return Exchange{std::make_unique<Exchange::State>(std::move(pool), std::move(connection))};
}

}  // namespace

ClientPool::ClientPool(io::Reactor& reactor, const ClientLimits& limits)
    : state_{std::make_shared<State>(reactor, limits)} {}

ClientPool::~ClientPool() {
    state_->closed = true;
    state_->close_all();
}

io::Task<base::Result<Exchange>> ClientPool::open(const Origin& origin, bool fresh, io::Wait wait) {
    auto connection = fresh ? nullptr : state_->take(origin.authority);
    if (connection == nullptr) return connect(state_, origin, wait);
    return io::Task<base::Result<Exchange>>::ended(
        Exchange{std::make_unique<Exchange::State>(state_, std::move(connection))});
}

std::size_t ClientPool::idle() const noexcept {
    std::size_t count = 0;
    for (const auto& [authority, connections] : state_->idle)
        count += connections.size();
    return count;
}

void ClientPool::close_idle() noexcept { state_->close_all(); }

ClientPool::State::State(io::Reactor& owner, const ClientLimits& given)
    : reactor{owner}, limits{given}, buffer{std::make_unique_for_overwrite<char[]>(buffer_bytes + padding_bytes)} {}

ClientPool::State::~State() = default;

std::unique_ptr<ClientConnection> ClientPool::State::take(const std::string& authority) {
    const auto found = idle.find(authority);
    if (found == idle.end()) return nullptr;
    IdleConnections& connections = found->second;
    while (!connections.empty()) {
        auto connection = std::move(connections.back());
        connections.pop_back();
        if (connection->idle_until <= reactor.now() || has_stray_input(*connection)) continue;
        connection->socket.on_peer_finished(nullptr);
        return connection;
    }
    return nullptr;
}

void ClientPool::State::put(std::unique_ptr<ClientConnection> connection, const ResponseHead& response) {
    const bool last = used_up(*connection, response);
    ++connection->served;
    connection->idle_until = reactor.now() + idle_time(limits, response);
    if (last || closed || limits.idle_per_origin == 0 || connection->idle_until <= reactor.now()) return;
    if (has_stray_input(*connection)) return;
    next_sweep = std::min(next_sweep, connection->idle_until);
    reactor.timers().arm(*this, next_sweep);
    connection->socket.on_peer_finished([this, raw = connection.get()] { drop(raw); });
    IdleConnections& connections = idle[connection->authority];
    if (connections.size() >= limits.idle_per_origin) connections.erase(connections.begin());
    connections.push_back(std::move(connection));
}

void ClientPool::State::drop(const ClientConnection* connection) noexcept {
    const auto found = idle.find(connection->authority);
    if (found == idle.end()) return;
    std::erase_if(found->second, [connection](const auto& candidate) { return candidate.get() == connection; });
}

void ClientPool::State::expired() noexcept {
    next_sweep = base::never;
    for (auto& [authority, connections] : idle) {
        std::erase_if(connections, [this](const auto& connection) { return connection->idle_until <= reactor.now(); });
        for (const auto& connection : connections)
            next_sweep = std::min(next_sweep, connection->idle_until);
    }
    std::erase_if(idle, [](const auto& entry) { return entry.second.empty(); });
    reactor.timers().arm(*this, next_sweep);
}

}  // namespace weir::http
