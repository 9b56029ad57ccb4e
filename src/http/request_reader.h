// RequestReader: the reading half of a server connection. Requests come out one by one, in order, however the
// bytes arrive; what follows a request is kept for the next. Holds no buffer while it waits for a first byte.
// Threads: the reactor's. Lifetime: the server's state and the socket outlive it.
#pragma once

#include "base/time.h"
#include "http/body_assembler.h"
#include "http/head_parser.h"
#include "http/head_scanner.h"
#include "http/server_state.h"
#include "io/socket.h"
#include "io/task.h"

#include <cstdint>
#include <expected>
#include <string>

namespace weir::http {

class RequestReader {
public:
    RequestReader(Server::State& server, io::Socket& socket) noexcept : server_{server}, socket_{socket} {}

    // Reads the next head. True: head() is there. False: the connection ended, or was idle too long, or drains,
    // before the first byte of a request. Errors: slow, client_closed, malformed ...
    [[nodiscard]] io::Task<std::expected<bool, HeadError>> read_head();
    // Reads the whole body of the request; once.
    [[nodiscard]] io::Task<std::expected<std::string, HeadError>> read_body();

    [[nodiscard]] const RequestHead& head() const noexcept { return head_; }
    // Frees the head's bytes when the response begins; views into it die, and `100 Continue` would come too late.
    void release_head() noexcept;
    // Whether all of the request has come.
    [[nodiscard]] bool complete() const noexcept { return body_ == BodyState::consumed || body_is_pending(); }
    // False when some of the request's body was not read. Drops a body that has come already.
    [[nodiscard]] bool consumed() noexcept;
    // Bytes behind the present request that were read with it.
    [[nodiscard]] bool has_pending() const noexcept { return !pending_.empty(); }
    [[nodiscard]] base::Instant last_byte_at() const noexcept { return last_byte_at_; }

private:
    enum class BodyState : std::uint8_t { consumed, unread, failed };

    // What one read gives, in the shared scratch buffer, valid until the caller suspends; empty = nothing now.
    [[nodiscard]] std::expected<std::span<char>, HeadError> try_read();
    [[nodiscard]] std::expected<bool, HeadError> accept(std::span<const char> bytes);
    [[nodiscard]] std::expected<bool, HeadError> take_head();
    [[nodiscard]] std::expected<bool, HeadError> parse();
    // How long a connection that drains still waits for a request.
    [[nodiscard]] io::Wait last_chance() noexcept;
    [[nodiscard]] io::Task<std::expected<std::string, HeadError>> receive_body();
    [[nodiscard]] io::Task<std::expected<std::string, HeadError>> assemble_body(BodyAssembler body);
    [[nodiscard]] bool body_is_pending() const noexcept;
    [[nodiscard]] bool send_continue() noexcept;

    Server::State& server_;
    io::Socket& socket_;
    std::string pending_;     // read, but not yet part of a head or body
    std::string head_bytes_;  // what head_ points into
    RequestHead head_;
    HeadScanner scanner_;
    base::Instant last_byte_at_{};
    // Of the body; kept apart, because the head may be released before the body is read.
    std::uint64_t content_length_ = 0;
    Framing framing_ = Framing::none;
    BodyState body_ = BodyState::consumed;
    bool expect_continue_ = false;
    bool blank_line_seen_ = false;  // before the present head
    bool served_one_ = false;
};

}  // namespace weir::http
