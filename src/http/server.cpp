#include "http/server.h"

#include "http/padding.h"
#include "http/server_connection.h"
#include "http/server_state.h"

#include <memory>
#include <utility>

namespace weir::http {

// What a handler throws is caught within its connection. What reaches the group is want of memory: the connection
// it struck has ended, and there is nobody to tell.
Server::State::State(io::Reactor& owner, Handler& user, const ServerLimits& initial)
    : reactor{owner},
      handler{user},
      limits{initial},
      scratch{std::make_unique_for_overwrite<char[]>(scratch_bytes + padding_bytes)},
      tasks{owner, [](const std::exception_ptr&) {}} {}

io::Task<void> Handler::crashed(std::exception_ptr failure, ResponseSink& sink) {
    static_cast<void>(failure);
    if (sink.begun()) co_return;
    const base::Status sent = co_await sink.send(500, {}, {});
    static_cast<void>(sent);  // the connection closes in either case
}

Server::Server(io::Reactor& reactor, Handler& handler, const ServerLimits& limits)
    : state_{std::make_unique<State>(reactor, handler, limits)} {}

Server::~Server() = default;

void Server::set_limits(const ServerLimits& limits) { state_->limits = limits; }

void Server::adopt(int descriptor) {
    auto socket = io::Socket::adopt(state_->reactor, descriptor);
    if (!socket) return;  // out of kernel memory: the descriptor is closed, as if it had not been accepted
    state_->tasks.spawn(ServerConnection::run(std::make_unique<ServerConnection>(*state_, std::move(*socket))));
}

std::size_t Server::connections() const noexcept { return state_->tasks.size(); }

void Server::begin_drain() { state_->draining.fire(); }

io::Task<void> Server::finish_drain(base::Instant deadline) {
    begin_drain();
    const base::Status drained = co_await state_->tasks.wait_empty({.deadline = deadline});
    if (drained) co_return;
    state_->cut.fire();
    io::IntrusiveList<ServerConnection> told;
    while (ServerConnection* const connection = state_->connections.pop_front()) {
        connection->give_up();
        told.push_back(*connection);
    }
    const base::Status ended = co_await state_->tasks.wait_empty({});
    static_cast<void>(ended);  // without a deadline it only ends when all have ended
}

}  // namespace weir::http
