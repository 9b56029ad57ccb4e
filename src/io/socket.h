// Socket: one non-blocking stream socket, registered once with its reactor (IN|OUT|RDHUP|ET).
// The seam to the network is four calls: wait_readable, wait_writable, try_read, try_writev.
// Move-only; closing happens at the end of the turn, so a descriptor number is never reused within one.
#pragma once

#include "base/result.h"
#include "io/address.h"
#include "io/reactor.h"

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace weir::io {

struct IoCount {
    std::size_t bytes = 0;
    bool would_block = false;  // nothing (more) now: wait. Also when the read budget of the turn is used up
    bool end_of_stream = false;  // reads only: the peer has finished sending
};

class ReadinessAwaiter;

class Socket {
public:
    // What try_read gives in one turn at most, before it asks to wait (until the next turn): one fast peer must not
    // starve the others. It may be exceeded by one read.
    static constexpr std::size_t read_budget_bytes = 256 * 1024;

    Socket() noexcept;
    Socket(Socket&&) noexcept;
    Socket& operator=(Socket&&) noexcept;
    ~Socket();  // closes; must not outlive the reactor

    // Takes ownership of a connected, non-blocking descriptor; sets TCP_NODELAY, keepalive, TCP_USER_TIMEOUT.
    [[nodiscard]] static base::Result<Socket> adopt(Reactor& reactor, int descriptor);
    // Begins a connect; the caller awaits wait_writable() and then asks connect_status().
    [[nodiscard]] static base::Result<Socket> start_connect(Reactor& reactor, const SocketAddress& address);
    [[nodiscard]] base::Status connect_status() const;

    // co_await: Status. ok = try again now; errors: timeout, cancelled, closed (this socket was closed meanwhile).
    // At most one waiter for each direction. A fired Cancel wins over readiness, readiness over a passed deadline
    // (except when the read budget is used up, so that a peer which never pauses meets its deadline too).
    [[nodiscard]] ReadinessAwaiter wait_readable(Wait wait) noexcept;
    [[nodiscard]] ReadinessAwaiter wait_writable(Wait wait) noexcept;
    // Ends with readiness of either direction; nobody else may wait for this socket meanwhile. For sending while
    // an early answer may come.
    [[nodiscard]] ReadinessAwaiter wait_either(Wait wait) noexcept;

    // Errors: closed (reset by the peer, or by us), unavailable (anything else), with errno's text.
    [[nodiscard]] base::Result<IoCount> try_read(std::span<char> into) noexcept;
    [[nodiscard]] base::Result<IoCount> try_writev(std::span<const iovec> slices) noexcept;

    // True once RDHUP, HUP or ERR was reported: the peer will send no more.
    [[nodiscard]] bool peer_finished() const noexcept;
    // False when the kernel is known to hold nothing that was not read: no system call.
    [[nodiscard]] bool may_be_readable() const noexcept;
    // Called once from the loop, when peer_finished() becomes true (at once if it already is). nullptr clears.
    // The callback may close or destroy this socket. Unread bytes may still be there.
    void on_peer_finished(std::move_only_function<void()> callback);

    [[nodiscard]] bool is_open() const noexcept;
    [[nodiscard]] std::string peer_text() const;
    // Sends FIN behind what was written; reading goes on. Errors do not matter to who is about to close.
    void finish_writing() noexcept;
    void close() noexcept;
    // Closes with RST (SO_LINGER 0): tells the peer that what it got is not complete.
    void reset() noexcept;

    struct State;

private:
    std::unique_ptr<State> state_;
};

// co_await socket.wait_readable(wait): stays valid when the socket is closed or destroyed meanwhile.
class ReadinessAwaiter final : private WaitNode {
public:
    enum class Direction : std::uint8_t { read, write, either };
    ReadinessAwaiter(Socket::State* socket, Direction direction, Wait wait) noexcept;
    [[nodiscard]] bool await_ready() noexcept;
    void await_suspend(std::coroutine_handle<> continuation) noexcept;
    [[nodiscard]] base::Status await_resume() const;

private:
    friend struct Socket::State;
    [[nodiscard]] bool ready_now() const noexcept;
    void detach() noexcept override;

    Socket::State* socket_;  // nullptr: not open
    Wait wait_;
    Direction direction_;
};

}  // namespace weir::io
