// Client side of HTTP/1.1: a pool of keep-alive connections to many origins, one exchange at a time on each
// (never pipelined: engines lose pipelined requests). Threads: one reactor's thread, one pool for each worker.
// Bytes of a response body are read into the worker's one shared buffer: views die at the next suspension.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "http/message.h"
#include "io/reactor.h"
#include "io/socket.h"
#include "io/task.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace weir::http {

// Where a request goes.
struct Origin {
    io::SocketAddress address;
    std::string authority;  // "10.0.0.1:8000": the Host field and the pool's key
};

struct ClientLimits {
    std::size_t header_bytes = 64 * 1024;             // of a response head
    std::size_t idle_per_origin = 64;
    std::chrono::milliseconds idle_timeout{60'000};   // shortened by the peer's `Keep-Alive: timeout`
};

struct BodyPart {
    std::string_view bytes;  // decoded; valid until the caller's next suspension; 64 readable bytes follow it
    bool end = false;        // the framing ended cleanly with (or before) these bytes
};

// One request and its response. Errors of the waits: timeout, cancelled, closed (the peer ended or reset the
// connection, `bytes_received()` tells how far it got), protocol (malformed head, chunking or length), too_large.
class Exchange {
public:
    Exchange(Exchange&&) noexcept;
    Exchange& operator=(Exchange&&) noexcept;
    ~Exchange();  // back to the pool when the response is complete and the peer keeps the connection, else closed

    [[nodiscard]] bool reused() const noexcept;  // this connection had served another exchange before
    // Sends the slices as they are: the caller has made the request head and framing. May be called again for more.
    // Also ok when the peer answered before it had read everything: the rest is then not sent, the answer can be
    // read, and the connection will not be reused.
    [[nodiscard]] io::Task<base::Status> send(std::span<const std::string_view> slices, io::Wait wait);
    // The final response head (1xx are skipped). Valid until the exchange ends, or release_head().
    [[nodiscard]] io::Task<base::Result<const ResponseHead*>> read_head(io::Wait wait);
    // The same in its two halves, for who wants no other task to exist while it waits: what has come, or nullptr, and
    // then to wait and to try again. Views of a body die in a wait.
    [[nodiscard]] base::Result<const ResponseHead*> try_read_head();
    [[nodiscard]] io::ReadinessAwaiter wait_readable(io::Wait wait) noexcept;
    // Frees the head's fields, so that a stream which waits does not hold them; views into it die.
    void release_head() noexcept;
    // What has arrived, as one view. `end` exactly once; not to be called after it.
    [[nodiscard]] io::Task<base::Result<BodyPart>> read_body(io::Wait wait);
    // All of it, with 64 readable bytes behind. Also too_large: it is longer than the limit.
    [[nodiscard]] io::Task<base::Result<std::string>> read_whole_body(std::size_t limit_bytes, io::Wait wait);
    // read_body() in its two halves: unless body_is_buffered(), wait; then take what there is, which may be nothing (no
    // bytes and no end).
    [[nodiscard]] bool body_is_buffered() const noexcept;
    [[nodiscard]] base::Result<BodyPart> try_read_body();
    [[nodiscard]] std::uint64_t bytes_received() const noexcept;
    // Never reuse this connection; closes it at destruction.
    void spoil() noexcept;

    struct State;
    explicit Exchange(std::unique_ptr<State> state);

private:
    std::unique_ptr<State> state_;
};

class ClientPool {
public:
    ClientPool(io::Reactor& reactor, const ClientLimits& limits);
    ClientPool(const ClientPool&) = delete;
    ClientPool& operator=(const ClientPool&) = delete;
    ~ClientPool();

    // A connection ready to send: an idle one unless `fresh`, else a new one. Errors: upstream_failed (refused,
    // unreachable; the text says which), timeout, cancelled. `origin` need not outlive the call.
    [[nodiscard]] io::Task<base::Result<Exchange>> open(const Origin& origin, bool fresh, io::Wait wait);
    [[nodiscard]] std::size_t idle() const noexcept;
    void close_idle() noexcept;

    struct State;

private:
    std::shared_ptr<State> state_;
};

}  // namespace weir::http
