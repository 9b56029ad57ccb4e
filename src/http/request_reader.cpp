#include "http/request_reader.h"

#include "http/free_memory.h"
#include "http/padding.h"

#include <array>
#include <chrono>
#include <utility>

namespace weir::http {
namespace {

// A connection that was accepted while the server drains may have its request under way.
constexpr std::chrono::milliseconds drain_grace{500};

std::unexpected<HeadError> fault(Fault kind, std::string_view message) noexcept {
    return std::unexpected{HeadError{.fault = kind, .message = message}};
}

std::unexpected<HeadError> late_or_gone(const base::Error& error) noexcept {
    return error.code() == base::ErrorCode::timeout
               ? fault(Fault::slow, "the request did not come in time")
               : fault(Fault::client_closed, "the connection ended within the request");
}

}  // namespace

io::Task<std::expected<bool, HeadError>> RequestReader::read_head() {
    scanner_.restart();
    blank_line_seen_ = false;
    auto deadline = server_.now() + server_.limits.header_timeout;
    std::expected<bool, HeadError> found = take_head();
    while (found && !*found) {
        const bool between_requests = pending_.empty();
        if (between_requests) {
            free_memory(pending_);
            const io::Wait idle{.deadline = server_.now() + server_.limits.idle_timeout, .cancel = &server_.draining};
            base::Status came = co_await socket_.wait_readable(idle);
            if (!came && came.error().code() == base::ErrorCode::cancelled)
                came = co_await socket_.wait_readable(last_chance());
            if (!came) co_return false;
            deadline = server_.now() + server_.limits.header_timeout;
        } else {
            const base::Status more = co_await socket_.wait_readable({.deadline = deadline, .cancel = &server_.cut});
            if (!more) co_return late_or_gone(more.error());
        }
        const auto bytes = try_read();
        if (!bytes && between_requests) co_return false;  // it ended without a byte of a request
        if (!bytes) co_return std::unexpected{bytes.error()};
        if (!bytes->empty()) found = accept(*bytes);
    }
    served_one_ = true;
    co_return found;
}

io::Wait RequestReader::last_chance() noexcept {
    const auto patience = served_one_ ? base::Nanoseconds{0} : base::Nanoseconds{drain_grace};
    return {.deadline = server_.now() + patience, .cancel = &server_.cut};
}

std::expected<std::span<char>, HeadError> RequestReader::try_read() {
    const auto count = socket_.try_read(server_.scratch_span());
    if (!count || count->end_of_stream)
        return fault(Fault::client_closed, "the client ended the connection within the request");
    if (count->bytes > 0) last_byte_at_ = server_.now();
    return server_.scratch_span().first(count->bytes);
}

// Adds bytes of a head. One that came whole, as most do, is not copied twice.
std::expected<bool, HeadError> RequestReader::accept(std::span<const char> bytes) {
    const std::string_view text{bytes.data(), bytes.size()};
    if (pending_.empty()) {
        const auto end = scanner_.scan(text);
        if (end && *end > 2 && *end <= server_.limits.header_bytes) {
            head_bytes_ = std::string{text.substr(0, *end)};
            if (*end < text.size()) pending_ = padded(text.substr(*end));  // perhaps a whole body, handed out as it is
            return parse();
        }
        scanner_.restart();
    }
    pending_.append(text);
    return take_head();
}

// Moves a complete head from pending_ to head_bytes_.
std::expected<bool, HeadError> RequestReader::take_head() {
    while (true) {
        const auto end = scanner_.scan(pending_);
        if (!end) return fault(Fault::malformed, end.error());
        const auto limit = server_.limits.header_bytes;
        if (*end > limit || (*end == 0 && pending_.size() > limit)) {
            return fault(Fault::head_too_large, "the request head is longer than the limit");
        }
        if (*end == 0) return false;
        const bool blank_line = *end == 2;
        if (!blank_line) head_bytes_.assign(pending_, 0, *end);
        pending_.erase(0, *end);
        if (!blank_line) return parse();
        // Some clients send one CRLF too many behind a body (RFC 9112, 2.2).
        if (std::exchange(blank_line_seen_, true)) return fault(Fault::malformed, "blank lines before the request");
        scanner_.restart();
    }
}

std::expected<bool, HeadError> RequestReader::parse() {
    auto parsed = parse_request_head(head_bytes_);
    if (!parsed) return std::unexpected{parsed.error()};
    head_ = std::move(*parsed);
    framing_ = head_.framing;
    content_length_ = head_.content_length;
    expect_continue_ = head_.expect_continue;
    body_ = framing_ == Framing::none ? BodyState::consumed : BodyState::unread;
    return true;
}

void RequestReader::release_head() noexcept {
    if (head_bytes_.empty()) return;
    expect_continue_ = false;
    head_ = RequestHead{};
    free_memory(head_bytes_);
}

bool RequestReader::body_is_pending() const noexcept {
    return body_ == BodyState::unread && framing_ == Framing::length && pending_.size() >= content_length_;
}

bool RequestReader::consumed() noexcept {
    if (body_is_pending()) {
        pending_.erase(0, static_cast<std::size_t>(content_length_));
        if (pending_.empty()) free_memory(pending_);
        body_ = BodyState::consumed;
    }
    return body_ == BodyState::consumed;
}

// Most bodies came with the head, or there is none.
io::Task<std::expected<std::string, HeadError>> RequestReader::read_body() {
    const bool came_whole = framing_ == Framing::length && pending_.size() == content_length_ &&
                            content_length_ <= server_.limits.body_bytes;
    if (body_ != BodyState::consumed && !came_whole) return receive_body();
    std::string body;
    if (body_ != BodyState::consumed) body.swap(pending_);
    body_ = BodyState::consumed;
    body.reserve(body.size() + padding_bytes);
    return io::Task<std::expected<std::string, HeadError>>::ended(std::move(body));
}

io::Task<std::expected<std::string, HeadError>> RequestReader::receive_body() {
    body_ = BodyState::failed;
    const auto limit = server_.limits.body_bytes;
    if (framing_ == Framing::length && content_length_ > limit) {
        co_return fault(Fault::body_too_large, "Content-Length is over the limit");
    }
    if (expect_continue_ && pending_.empty() && !send_continue()) {
        co_return fault(Fault::client_closed, "the client ended the connection within the request");
    }
    auto read = co_await assemble_body(BodyAssembler{framing_, content_length_, limit});
    if (read) body_ = BodyState::consumed;
    co_return read;
}

io::Task<std::expected<std::string, HeadError>> RequestReader::assemble_body(BodyAssembler body) {
    const auto deadline = server_.now() + server_.limits.body_timeout;
    const auto taken = body.add(pending_);
    if (!taken) co_return std::unexpected{taken.error()};
    pending_.erase(0, *taken);
    if (pending_.empty()) free_memory(pending_);
    while (!body.whole()) {
        const base::Status more = co_await socket_.wait_readable({.deadline = deadline, .cancel = &server_.cut});
        if (!more) co_return late_or_gone(more.error());
        const auto bytes = try_read();
        if (!bytes) co_return std::unexpected{bytes.error()};
        const auto used = body.add(*bytes);
        if (!used) co_return std::unexpected{used.error()};
        const auto rest = bytes->subspan(*used);
        pending_.assign(rest.data(), rest.size());
    }
    co_return body.take();
}

// False when the client does not take it. The connection has nothing unsent, so these bytes fit.
bool RequestReader::send_continue() noexcept {
    static constexpr std::string_view text = "HTTP/1.1 100 Continue\r\n\r\n";
    std::array<char, text.size()> bytes{};
    text.copy(bytes.data(), bytes.size());
    const std::array<iovec, 1> slices{iovec{.iov_base = bytes.data(), .iov_len = bytes.size()}};
    const auto count = socket_.try_writev(slices);
    return count && count->bytes == text.size();
}

}  // namespace weir::http
