#include "http/exchange.h"

#include "http/free_memory.h"
#include "http/gather.h"
#include "http/head_parser.h"
#include "http/padding.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace weir::http {
namespace {

constexpr std::uint8_t most_informational_heads = 16;
constexpr std::uint64_t most_reserved_bytes = 1024 * 1024;

}  // namespace

Exchange::Exchange(std::unique_ptr<State> state) : state_{std::move(state)} {}
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;
Exchange::~Exchange() = default;

bool Exchange::reused() const noexcept { return state_->connection->served > 0; }
std::uint64_t Exchange::bytes_received() const noexcept { return state_->received_bytes; }
void Exchange::spoil() noexcept { state_->reusable = false; }
void Exchange::release_head() noexcept { state_->release_head(); }

io::Task<base::Status> Exchange::send(std::span<const std::string_view> slices, io::Wait wait) {
    return state_->send(slices, wait);
}
io::Task<base::Result<const ResponseHead*>> Exchange::read_head(io::Wait wait) { return state_->read_head(wait); }
base::Result<const ResponseHead*> Exchange::try_read_head() { return state_->try_read_head(); }
io::Task<base::Result<BodyPart>> Exchange::read_body(io::Wait wait) { return state_->read_body(wait); }
io::Task<base::Result<std::string>> Exchange::read_whole_body(std::size_t limit_bytes, io::Wait wait) {
    return state_->read_whole_body(limit_bytes, wait);
}
bool Exchange::body_is_buffered() const noexcept { return state_->body_is_buffered(); }
base::Result<BodyPart> Exchange::try_read_body() { return state_->try_read_body(); }
io::ReadinessAwaiter Exchange::wait_readable(io::Wait wait) noexcept { return state_->wait_readable(wait); }

Exchange::State::State(std::shared_ptr<ClientPool::State> owner, std::unique_ptr<ClientConnection> taken) noexcept
    : pool{std::move(owner)}, connection{std::move(taken)} {}

Exchange::State::~State() {
    if (ended_ && reusable && head_.keep_alive) pool->put(std::move(connection), head_);
}

std::unexpected<base::Error> Exchange::State::failed(const base::Error& error) {
    reusable = false;
    return std::unexpected{error};
}

std::unexpected<base::Error> Exchange::State::failed(base::ErrorCode code, std::string_view message) {
    return failed(base::Error{code, connection->authority + ": " + std::string{message}});
}

// Nearly always the kernel takes everything at once.
io::Task<base::Status> Exchange::State::send(std::span<const std::string_view> slices, io::Wait wait) {
    Gather gather{{.slices = slices, .slice_bytes = total_bytes(slices)}};
    std::array<iovec, 64> window;
    if (gather.done() || have_head_) return io::Task<base::Status>::ended();
    const auto filled = gather.fill(window);
    if (!std::exchange(sent_any_, true)) {
        const std::string_view first{static_cast<const char*>(filled[0].iov_base), filled[0].iov_len};
        to_head_request_ = first.starts_with("HEAD ");
    }
    const auto count = connection->socket.try_writev(filled);
    if (count) gather.advance(count->bytes);
    if (gather.done()) return io::Task<base::Status>::ended();
    return go_on_sending(gather, wait);
}

io::Task<base::Status> Exchange::State::go_on_sending(Gather gather, io::Wait wait) {
    std::array<iovec, 64> window;
    io::Socket& socket = connection->socket;
    while (!gather.done() && !have_head_) {
        const auto count = socket.try_writev(gather.fill(window));
        if (count) gather.advance(count->bytes);
        if (count && !count->would_block) continue;
        if (count) {
            const base::Status ready = co_await socket.wait_either(wait);
            if (!ready) co_return failed(ready.error());
        }
        const auto answered = take_early_answer(!count);
        if (!answered) co_return std::unexpected{answered.error()};
        if (!count && !*answered) co_return failed(base::ErrorCode::closed, count.error().message());
        if (socket.may_be_readable() && !*answered) {
            // The read budget of this turn is used up: give way instead of turning in a circle.
            const base::Status ready = co_await socket.wait_readable(wait);
            if (!ready) co_return failed(ready.error());
        }
    }
    if (!gather.done()) reusable = false;
    co_return base::Status{};
}

base::Result<bool> Exchange::State::take_early_answer(bool peer_stopped_reading) {
    // After a reset what was received before it is still there, but the loop may not have told us yet.
    while (!have_head_ && (peer_stopped_reading || connection->socket.may_be_readable())) {
        const auto bytes = try_read();
        if (!bytes) return std::unexpected{bytes.error()};
        if (!*bytes) return failed(base::ErrorCode::closed, "closed while the request was being sent");
        if ((*bytes)->empty()) break;
        const auto found = accept(**bytes);
        if (!found) return found;
    }
    return have_head_;
}

io::Task<base::Result<const ResponseHead*>> Exchange::State::read_head(io::Wait wait) {
    while (true) {
        const auto head = try_read_head();
        if (!head || *head != nullptr) co_return head;
        const base::Status readable = co_await connection->socket.wait_readable(wait);
        if (!readable) co_return failed(readable.error());
    }
}

base::Result<const ResponseHead*> Exchange::State::try_read_head() {
    if (!have_head_ && connection->socket.may_be_readable()) {
        const auto bytes = try_read();
        if (!bytes) return std::unexpected{bytes.error()};
        if (!*bytes) return failed(base::ErrorCode::closed, "closed before the response head was complete");
        if (!(*bytes)->empty()) {
            const auto found = accept(**bytes);
            if (!found) return std::unexpected{found.error()};
        }
    }
    return have_head_ ? &head_ : nullptr;
}

// Adds bytes of a head. One that came whole, as most do, is not copied twice.
base::Result<bool> Exchange::State::accept(std::span<const char> bytes) {
    const std::string_view text{bytes.data(), bytes.size()};
    if (pending_.empty()) {
        const auto end = scanner_.scan(text);
        scanner_.restart();
        if (end && *end > 0 && *end <= pool->limits.header_bytes) {
            head_bytes_ = std::string{text.substr(0, *end)};
            if (*end < text.size()) pending_ = padded(text.substr(*end));
            const auto is_final = parse_head();
            return is_final && !*is_final ? take_head() : is_final;
        }
    }
    pending_.append(text);
    return take_head();
}

base::Result<bool> Exchange::State::take_head() {
    while (!have_head_) {
        const auto end = scanner_.scan(pending_);
        if (!end) return failed(base::ErrorCode::protocol, end.error());
        const auto limit = pool->limits.header_bytes;
        if (*end > limit || (*end == 0 && pending_.size() > limit)) {
            return failed(base::ErrorCode::too_large, "the response head is longer than the limit");
        }
        if (*end == 0) return false;
        head_bytes_.assign(pending_, 0, *end);
        pending_.erase(0, *end);
        scanner_.restart();
        const auto is_final = parse_head();
        if (!is_final) return is_final;
    }
    return true;
}

// True when it is the final head, false for 1xx.
base::Result<bool> Exchange::State::parse_head() {
    auto parsed = parse_response_head(head_bytes_, to_head_request_);
    if (!parsed) return failed(base::ErrorCode::protocol, parsed.error().message);
    if (parsed->status / 100 == 1) {
        if (parsed->status == 101 || ++informational_heads_ > most_informational_heads) {
            return failed(base::ErrorCode::protocol, "an informational response that nobody asked for");
        }
        return false;
    }
    head_ = std::move(*parsed);
    left_ = head_.content_length;
    have_head_ = true;
    return true;
}

// What the pool asks of the head later is not in its fields.
void Exchange::State::release_head() noexcept {
    head_.fields = {};
    free_memory(head_bytes_);
}

io::Task<base::Result<BodyPart>> Exchange::State::read_body(io::Wait wait) {
    if (body_is_buffered()) {
        auto part = try_read_body();
        if (!part || part->end || !part->bytes.empty()) return io::Task<base::Result<BodyPart>>::ended(std::move(part));
    }
    return wait_for_body(wait);
}

io::Task<base::Result<BodyPart>> Exchange::State::wait_for_body(io::Wait wait) {
    while (true) {
        const base::Status readable = co_await connection->socket.wait_readable(wait);
        if (!readable) co_return failed(readable.error());
        const auto part = try_read_body();
        if (!part || part->end || !part->bytes.empty()) co_return part;
    }
}

io::ReadinessAwaiter Exchange::State::wait_readable(io::Wait wait) noexcept {
    free_memory(handed_out_);
    return connection->socket.wait_readable(wait);
}

// Most answers came whole with their head.
io::Task<base::Result<std::string>> Exchange::State::read_whole_body(std::size_t limit_bytes, io::Wait wait) {
    const bool came_whole = head_.framing == Framing::length && pending_.size() == left_ && left_ <= limit_bytes;
    if (!came_whole) return collect_body(limit_bytes, wait);
    ended_ = true;
    pending_.reserve(pending_.size() + padding_bytes);
    return io::Task<base::Result<std::string>>::ended(std::exchange(pending_, std::string{}));
}

// Announced sizes are believed up to a point: the peer may be lying.
io::Task<base::Result<std::string>> Exchange::State::collect_body(std::size_t limit_bytes, io::Wait wait) {
    std::string body;
    const auto announced = static_cast<std::size_t>(std::min<std::uint64_t>(left_, most_reserved_bytes));
    body.reserve(std::min(announced, limit_bytes) + padding_bytes);
    while (true) {
        if (!body_is_buffered()) {
            const base::Status readable = co_await connection->socket.wait_readable(wait);
            if (!readable) co_return failed(readable.error());
        }
        const auto part = try_read_body();
        if (!part) co_return std::unexpected{part.error()};
        if (part->bytes.size() > limit_bytes - body.size())
            co_return failed(base::ErrorCode::too_large, "the response body is longer than the limit");
        body.append(part->bytes);
        if (!part->end) continue;
        body.reserve(body.size() + padding_bytes);
        co_return body;
    }
}

base::Result<BodyPart> Exchange::State::try_read_body() {
    assert(have_head_ && !ended_ && "read_head() first, and nothing behind the end");
    free_memory(handed_out_);
    if (!body_fault_.empty()) return failed(base::ErrorCode::protocol, body_fault_);
    if (body_is_buffered()) {
        handed_out_ = std::exchange(pending_, std::string{});
        handed_out_.reserve(handed_out_.size() + padding_bytes);
        return decode(handed_out_);
    }
    const auto bytes = try_read();
    if (!bytes) return std::unexpected{bytes.error()};
    if (*bytes) return decode(**bytes);
    if (head_.framing != Framing::until_close)
        return failed(base::ErrorCode::closed, "closed before the response body was complete");
    ended_ = true;
    return BodyPart{.bytes = {}, .end = true};
}

base::Result<BodyPart> Exchange::State::decode(std::span<char> bytes) {
    switch (head_.framing) {
        case Framing::none: return end_of_body(bytes.first(0), bytes.size());
        case Framing::until_close: return BodyPart{.bytes = {bytes.data(), bytes.size()}};
        case Framing::length: {
            const auto taken = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
            left_ -= taken.size();
            if (left_ == 0) return end_of_body(taken, bytes.size() - taken.size());
            return BodyPart{.bytes = {taken.data(), taken.size()}};
        }
        case Framing::chunked: {
            const auto decoded = chunks_.decode(bytes);
            if (!decoded.fault.empty()) {
                if (decoded.payload.empty()) return failed(base::ErrorCode::protocol, decoded.fault);
                body_fault_ = decoded.fault;
            }
            if (decoded.end) return end_of_body(decoded.payload, bytes.size() - decoded.consumed);
            return BodyPart{.bytes = {decoded.payload.data(), decoded.payload.size()}};
        }
    }
    return failed(base::ErrorCode::internal, "unknown framing");
}

// Whatever follows a response was not asked for, and would be taken for the next one.
BodyPart Exchange::State::end_of_body(std::span<const char> payload, std::size_t bytes_behind) noexcept {
    ended_ = true;
    if (bytes_behind > 0) reusable = false;
    return {.bytes = {payload.data(), payload.size()}, .end = true};
}

base::Result<std::optional<std::span<char>>> Exchange::State::try_read() {
    const auto count = connection->socket.try_read(pool->buffer_span());
    if (!count) return failed(base::ErrorCode::closed, count.error().message());
    if (count->end_of_stream) return std::nullopt;
    received_bytes += count->bytes;
    return pool->buffer_span().first(count->bytes);
}

}  // namespace weir::http
