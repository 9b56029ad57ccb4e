// Server::State: what the connections of one server share. Private to the server's files.
// Threads: the reactor's. Lifetime: outlives every connection.
#pragma once

#include "http/response_head.h"
#include "http/server.h"
#include "io/cancel.h"
#include "io/intrusive.h"
#include "io/reactor.h"
#include "io/task_group.h"

#include <cstddef>
#include <memory>
#include <span>

namespace weir::http {

class ServerConnection;

struct Server::State {
    State(io::Reactor& owner, Handler& user, const ServerLimits& initial);

    static constexpr std::size_t scratch_bytes = 64 * 1024;
    // What one read fills; its bytes are of nobody as soon as the reader suspends.
    [[nodiscard]] std::span<char> scratch_span() noexcept { return {scratch.get(), scratch_bytes}; }
    [[nodiscard]] base::Instant now() const noexcept { return reactor.now(); }

    io::Reactor& reactor;
    Handler& handler;
    ServerLimits limits;
    HttpDate date;
    io::Cancel draining;  // ends the waits between requests
    io::Cancel cut;       // ends all waits
    std::unique_ptr<char[]> scratch;
    io::IntrusiveList<ServerConnection> connections;
    io::TaskGroup tasks;
};

}  // namespace weir::http
