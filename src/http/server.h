// Server side of HTTP/1.1: a connection task owns the codec and walks one request after another through a
// Handler, over two abstract halves (so that HTTP/2 changes nothing for handlers).
// Threads: one reactor's thread. Lifetime: Handler outlives the Server, source and sink outlive handle().
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "http/message.h"
#include "io/cancel.h"
#include "io/reactor.h"
#include "io/socket.h"
#include "io/task.h"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace weir::http {

struct ServerLimits {
    std::size_t header_bytes = 32 * 1024;
    std::size_t body_bytes = 32 * 1024 * 1024;
    std::chrono::milliseconds header_timeout{10'000};       // from the first byte of a head to its end
    std::chrono::milliseconds body_timeout{60'000};         // for the whole body
    std::chrono::milliseconds idle_timeout{75'000};         // between requests
    std::chrono::milliseconds write_stall_timeout{30'000};  // the client takes no byte for so long
};

// A body read to its end. `bytes.capacity() >= bytes.size() + 64`, so simdjson may read past the end.
struct BodyError {
    Fault fault{};
    std::string message;
};

class RequestSource {
public:
    virtual ~RequestSource() = default;
    // Valid until the response is begun.
    [[nodiscard]] virtual const RequestHead& head() const noexcept = 0;
    // Reads the body whole (Content-Length or chunked), within the server's limits; sends `100 Continue` first
    // when it is expected. At most once. After an error the connection will close behind the response.
    [[nodiscard]] virtual io::Task<std::expected<std::string, BodyError>> read_body() = 0;
    // Fires when the client has gone (reset, or FIN after a complete request).
    [[nodiscard]] virtual io::Cancel& client_gone() noexcept = 0;
    // When the last byte of the request (head or body) was read.
    [[nodiscard]] virtual base::Instant last_byte_at() const noexcept = 0;
    [[nodiscard]] virtual std::string peer_text() const = 0;
};

// The bytes of a body, in one piece or in several. Only a view: they live until the write has ended.
class BodyView {
public:
    BodyView() = default;
    // Implicit, as views are: a body is written where it stands.
    template <std::convertible_to<std::string_view> Text>
    BodyView(const Text& text) noexcept : text_{text} {}  // NOLINT(google-explicit-constructor)
    BodyView(std::span<const std::string_view> slices) noexcept  // NOLINT(google-explicit-constructor)
        : slices_{slices} {}
    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    [[nodiscard]] std::span<const std::string_view> slices() const noexcept { return slices_; }

private:
    std::string_view text_;  // behind the slices
    std::span<const std::string_view> slices_;
};

// Errors of all writes: closed (client gone), timeout (write stall), cancelled.
class ResponseSink {
public:
    virtual ~ResponseSink() = default;
    // A complete response in one gather write; Content-Length is added. Answers to HEAD go without the body.
    [[nodiscard]] virtual io::Task<base::Status> send(int status, std::span<const Field> fields, BodyView body) = 0;
    // Begins a streamed response; the head leaves together with the first write (or flush_head).
    virtual void begin_stream(int status, std::span<const Field> fields) = 0;
    // Sends the slices as one HTTP chunk (as they are to HTTP/1.0). Empty = sends a waiting head only. The slices need
    // only live until this suspends: what the kernel does not take at once is copied.
    // Returns when the bytes are with the kernel, so awaiting it is backpressure.
    [[nodiscard]] virtual io::Task<base::Status> write(std::span<const std::string_view> slices) = 0;
    // The last slices (may be none) and the terminal chunk, together.
    [[nodiscard]] virtual io::Task<base::Status> end_stream(std::span<const std::string_view> slices) = 0;
    // No write of this response waits longer than that, however slowly the client reads: it ends with `timeout`.
    virtual void finish_by(base::Instant deadline) noexcept = 0;
    // Ends a begun stream without its terminal chunk: the client sees that it is cut.
    virtual void abort() noexcept = 0;
    // Asks for `Connection: close` on the response and the close after it. Before send/begin_stream.
    virtual void close_after() noexcept = 0;
    [[nodiscard]] virtual bool begun() const noexcept = 0;  // send or begin_stream was called
    [[nodiscard]] virtual std::uint64_t bytes_sent() const noexcept = 0;  // with the kernel, head included
};

class Handler {
public:
    virtual ~Handler() = default;
    [[nodiscard]] virtual io::Task<void> handle(RequestSource& source, ResponseSink& sink) = 0;
    // A message that never became a request. `sink` answers it; the connection closes afterwards.
    [[nodiscard]] virtual io::Task<void> reject(Fault fault, std::string message, ResponseSink& sink) = 0;
    // An exception left handle() or reject(): a bug, reported once. When nothing is begun, `sink` may still answer;
    // afterwards the connection closes (a begun stream is cut). The default answers with a bare 500.
    [[nodiscard]] virtual io::Task<void> crashed(std::exception_ptr failure, ResponseSink& sink);
};

class Server {
public:
    Server(io::Reactor& reactor, Handler& handler, const ServerLimits& limits);
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();  // no connection is left: drain first

    void set_limits(const ServerLimits& limits);
    // Serves a connection; takes ownership of the accepted descriptor.
    void adopt(int descriptor);
    [[nodiscard]] std::size_t connections() const noexcept;
    // Answers from now on close their connection; connections that are idle between requests close now.
    void begin_drain();
    // Waits until every connection has ended; at the deadline the rest are cut and waited for.
    [[nodiscard]] io::Task<void> finish_drain(base::Instant deadline);

    struct State;

private:
    std::unique_ptr<State> state_;
};

}  // namespace weir::http
