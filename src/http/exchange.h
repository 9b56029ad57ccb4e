// Exchange::State: one request and its response on one connection. Private to the client's files.
// Invariant: bytes read but not handed out are in `pending`, never in the pool's buffer, when it suspends.
// Threads: the reactor's.
#pragma once

#include "http/chunk.h"
#include "http/client.h"
#include "http/client_state.h"
#include "http/gather.h"
#include "http/head_scanner.h"
#include "http/message.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace weir::http {

struct Exchange::State {
    State(std::shared_ptr<ClientPool::State> owner, std::unique_ptr<ClientConnection> taken) noexcept;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State();

    [[nodiscard]] io::Task<base::Status> send(std::span<const std::string_view> slices, io::Wait wait);
    [[nodiscard]] io::Task<base::Result<const ResponseHead*>> read_head(io::Wait wait);
    [[nodiscard]] base::Result<const ResponseHead*> try_read_head();
    [[nodiscard]] io::Task<base::Result<BodyPart>> read_body(io::Wait wait);
    [[nodiscard]] io::ReadinessAwaiter wait_readable(io::Wait wait) noexcept;
    [[nodiscard]] io::Task<base::Result<std::string>> read_whole_body(std::size_t limit_bytes, io::Wait wait);
    [[nodiscard]] base::Result<BodyPart> try_read_body();
    // Whether try_read_body() has something to tell without reading.
    [[nodiscard]] bool body_is_buffered() const noexcept {
        return !pending_.empty() || !body_fault_.empty() || head_.framing == Framing::none;
    }
    void release_head() noexcept;

    std::shared_ptr<ClientPool::State> pool;
    std::unique_ptr<ClientConnection> connection;
    std::uint64_t received_bytes = 0;
    bool reusable = true;  // as far as is known

private:
    [[nodiscard]] io::Task<base::Status> go_on_sending(Gather gather, io::Wait wait);
    [[nodiscard]] io::Task<base::Result<BodyPart>> wait_for_body(io::Wait wait);
    [[nodiscard]] io::Task<base::Result<std::string>> collect_body(std::size_t limit_bytes, io::Wait wait);
    // Bytes of one read, in the pool's buffer; empty = nothing now, nullopt = the peer has ended.
    [[nodiscard]] base::Result<std::optional<std::span<char>>> try_read();
    // Reads what has come while the request was being sent; true when it is an answer.
    [[nodiscard]] base::Result<bool> take_early_answer(bool peer_stopped_reading);
    [[nodiscard]] base::Result<bool> accept(std::span<const char> bytes);
    // Looks for the final head in pending_; true when it is there.
    [[nodiscard]] base::Result<bool> take_head();
    [[nodiscard]] base::Result<bool> parse_head();
    [[nodiscard]] base::Result<BodyPart> decode(std::span<char> bytes);
    [[nodiscard]] BodyPart end_of_body(std::span<const char> payload, std::size_t bytes_behind) noexcept;
    // Passes the error on; the connection will be closed.
    [[nodiscard]] std::unexpected<base::Error> failed(base::ErrorCode code, std::string_view message);
    [[nodiscard]] std::unexpected<base::Error> failed(const base::Error& error);

    ResponseHead head_;
    std::string head_bytes_;  // what head_ points into
    std::string pending_;     // read, but not yet handed out
    std::string handed_out_;  // what was pending, while the caller looks at it
    HeadScanner scanner_;
    ChunkDecoder chunks_;
    std::string_view body_fault_;  // met behind bytes that were good and handed out; the next read tells it
    std::uint64_t left_ = 0;  // with Framing::length
    std::uint8_t informational_heads_ = 0;
    bool sent_any_ = false;
    bool to_head_request_ = false;
    bool have_head_ = false;
    bool ended_ = false;
};

}  // namespace weir::http
