// ResponseWriter: the writing half of a server connection, one response at a time. Decides whether the connection
// can go on afterwards. Copies no body bytes; owns only a head that waits for its first bytes of body.
// Threads: the reactor's. Lifetime: the server's state, the socket and the reader outlive it.
#pragma once

#include "http/chunk.h"
#include "http/gather.h"
#include "http/request_reader.h"
#include "http/server.h"
#include "http/server_state.h"
#include "io/socket.h"
#include "io/task.h"

#include <cstdint>
#include <string>

namespace weir::http {

class ResponseWriter final : public ResponseSink {
public:
    ResponseWriter(Server::State& server, io::Socket& socket, RequestReader& reader) noexcept
        : server_{server}, socket_{socket}, reader_{reader} {}

    // Before each request is handled; `last`: no request can follow, whatever happens.
    void start(const RequestHead& head, bool last) noexcept;
    enum class Ending : std::uint8_t {
        keep,   // the response is whole, another request may follow
        close,  // it is whole, but the last; or cut in a framing that shows it
        reset,  // it is not whole, and only a reset can tell the client (or nobody reads it)
    };
    [[nodiscard]] Ending ending() const noexcept;

    [[nodiscard]] io::Task<base::Status> send(int status, std::span<const Field> fields, BodyView body) override;
    void begin_stream(int status, std::span<const Field> fields) override;
    [[nodiscard]] io::Task<base::Status> write(std::span<const std::string_view> slices) override;
    [[nodiscard]] io::Task<base::Status> end_stream(std::span<const std::string_view> slices) override;
    void finish_by(base::Instant deadline) noexcept override { deadline_ = deadline; }
    void abort() noexcept override;
    void close_after() noexcept override { last_ = true; }
    [[nodiscard]] bool begun() const noexcept override { return phase_ != Phase::waiting; }
    [[nodiscard]] std::uint64_t bytes_sent() const noexcept override { return sent_bytes_; }

private:
    enum class Phase : std::uint8_t { waiting, streaming, whole, broken };

    void make_head(int status, Framing framing, std::uint64_t content_length, std::span<const Field> fields);
    [[nodiscard]] io::Task<base::Status> write_chunk(std::span<const std::string_view> slices, bool last);
    // Sends all parts, at once when the kernel takes them, else in a task of its own.
    [[nodiscard]] io::Task<base::Status> transmit(const Gather::Parts& parts, Phase next);
    [[nodiscard]] io::Task<base::Status> wait_and_push(Gather gather, std::string kept, Phase next);
    void finish(bool sent, Phase next) noexcept;
    // Sends what the kernel takes now; true when that is all of it.
    [[nodiscard]] base::Result<bool> push(Gather& gather) noexcept;

    Server::State& server_;
    io::Socket& socket_;
    RequestReader& reader_;
    std::string head_;  // made, but not yet sent
    base::Instant deadline_ = base::never;
    std::uint64_t sent_bytes_ = 0;
    Phase phase_ = Phase::waiting;
    Framing framing_ = Framing::none;  // of the bytes that follow the head
    std::uint8_t minor_version_ = 1;
    bool to_head_request_ = false;
    bool last_ = false;
    bool reset_ = false;
};

}  // namespace weir::http
