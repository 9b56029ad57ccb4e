// What a pool, its connections and its exchanges share. Private to the client's files.
// Invariant: a connection is either idle in the pool or owned by one exchange.
// Threads: the reactor's. Lifetime: exchanges keep the state alive when the pool object has gone.
#pragma once

#include "http/client.h"
#include "io/timer_wheel.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::http {

struct ClientConnection {
    io::Socket socket;
    std::string authority;
    std::uint32_t served = 0;                     // exchanges that ended well
    std::optional<std::uint32_t> most_exchanges;  // from the first `Keep-Alive: max`
    base::Instant idle_until{};                   // while it is idle
};

struct ClientPool::State final : private io::Timer {
    State(io::Reactor& owner, const ClientLimits& given);
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State();

    // The connection that was used last and can still be used, or nullptr.
    [[nodiscard]] std::unique_ptr<ClientConnection> take(const std::string& authority);
    // After a complete response: keeps the connection, or closes it when the peer will.
    void put(std::unique_ptr<ClientConnection> connection, const ResponseHead& response);
    void close_all() noexcept { idle.clear(); }
    // What one read fills; its bytes are of nobody as soon as the reader suspends.
    [[nodiscard]] std::span<char> buffer_span() noexcept { return {buffer.get(), buffer_bytes}; }

    static constexpr std::size_t buffer_bytes = 64 * 1024;

    using IdleConnections = std::vector<std::unique_ptr<ClientConnection>>;  // the last was used last

    io::Reactor& reactor;
    ClientLimits limits;
    std::unique_ptr<char[]> buffer;
    std::unordered_map<std::string, IdleConnections> idle;
    base::Instant next_sweep = base::never;
    bool closed = false;

private:
    void drop(const ClientConnection* connection) noexcept;
    void expired() noexcept override;  // closes what has been idle too long
};

}  // namespace weir::http
