// Listener and Acceptor: a bound port, and the loop that takes connections from it.
// Level-triggered with a cap on accepts a turn; paused by timer on EMFILE; SO_REUSEPORT so that each worker has
// its own; an exclusive lock is taken before binding, because SO_REUSEPORT lets a second process bind in silence.
#pragma once

#include "base/result.h"
#include "io/reactor.h"
#include "io/socket.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir::io {

// Descriptors of `count` listening sockets on one address. Port 0 takes a free port, the same for all.
// The lock is held while this object lives: destroy it when a drain begins, so that a successor can bind.
class ListenerSet {
public:
    // Errors: unavailable ("127.0.0.1:8080 is already served by another process" ...), invalid_argument.
    // An address overlaps with its wildcard (0.0.0.0, and [::] for both families).
    [[nodiscard]] static base::Result<ListenerSet> open(const SocketAddress& address, std::size_t count);
    ListenerSet(ListenerSet&&) noexcept;
    ListenerSet& operator=(ListenerSet&&) noexcept;
    ~ListenerSet();
    [[nodiscard]] const SocketAddress& address() const noexcept;  // with the real port
    [[nodiscard]] int take(std::size_t index) noexcept;           // ownership of one descriptor

private:
    struct State;
    explicit ListenerSet(std::unique_ptr<State> state);
    [[nodiscard]] static base::Result<ListenerSet> open_port(const SocketAddress& address, std::size_t count);
    std::unique_ptr<State> state_;
};

class Acceptor {
public:
    static constexpr std::size_t accepts_per_turn = 64;

    // `on_accept` gets each accepted descriptor (non-blocking, close-on-exec) and owns it. It may call
    // drain_and_close(), but not destroy the Acceptor.
    Acceptor(Reactor& reactor, int listening_descriptor, std::move_only_function<void(int)> on_accept);
    Acceptor(const Acceptor&) = delete;
    Acceptor& operator=(const Acceptor&) = delete;
    ~Acceptor();
    // Accepts what the kernel has queued until EAGAIN, then closes the listener. Idempotent. Without it (or out of
    // descriptors) the kernel resets the clients that it has queued.
    void drain_and_close();
    [[nodiscard]] std::uint64_t paused_total() const noexcept;  // times accepting paused for want of descriptors

private:
    struct State;
    std::unique_ptr<State> state_;
};

// Raises RLIMIT_NOFILE to its hard limit; returns the limit now in force.
[[nodiscard]] std::uint64_t raise_descriptor_limit() noexcept;

}  // namespace weir::io
