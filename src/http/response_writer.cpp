#include "http/response_writer.h"

#include "http/free_memory.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace weir::http {

void ResponseWriter::start(const RequestHead& head, bool last) noexcept {
    assert(head_.empty());
    sent_bytes_ = 0;
    reset_ = false;
    phase_ = Phase::waiting;
    framing_ = Framing::none;
    minor_version_ = static_cast<std::uint8_t>(head.minor_version);
    to_head_request_ = head.method == "HEAD";
    deadline_ = base::never;
    last_ = last || !head.keep_alive;
}

ResponseWriter::Ending ResponseWriter::ending() const noexcept {
    if (reset_) return Ending::reset;
    return last_ || phase_ != Phase::whole ? Ending::close : Ending::keep;
}

io::Task<base::Status> ResponseWriter::send(int status, std::span<const Field> fields, BodyView body) {
    assert(phase_ == Phase::waiting && "one response to one request");
    const bool without_body = never_has_body(status);
    const auto slice_bytes = total_bytes(body.slices());
    make_head(status, without_body ? Framing::none : Framing::length, slice_bytes + body.text().size(), fields);
    phase_ = Phase::streaming;
    Gather::Parts parts{.head = head_};
    if (!without_body && !to_head_request_) {
        parts.slices = body.slices();
        parts.slice_bytes = slice_bytes;
        parts.closing = body.text();
    }
    return transmit(parts, Phase::whole);
}

void ResponseWriter::begin_stream(int status, std::span<const Field> fields) {
    assert(phase_ == Phase::waiting && "one response to one request");
    Framing framing = minor_version_ == 0 ? Framing::until_close : Framing::chunked;
    if (never_has_body(status)) framing = Framing::none;
    if (framing == Framing::until_close) last_ = true;
    make_head(status, framing, 0, fields);
    phase_ = Phase::streaming;
    framing_ = to_head_request_ ? Framing::none : framing;
    reader_.release_head();
}

io::Task<base::Status> ResponseWriter::write(std::span<const std::string_view> slices) {
    return write_chunk(slices, false);
}

io::Task<base::Status> ResponseWriter::end_stream(std::span<const std::string_view> slices) {
    return write_chunk(slices, true);
}

// The waiting head and one chunk, in the framing of the response. An empty chunk would end it, so none is made.
io::Task<base::Status> ResponseWriter::write_chunk(std::span<const std::string_view> slices, bool last) {
    Gather::Parts parts{.head = head_};
    if (framing_ != Framing::none) {
        parts.slices = slices;
        parts.slice_bytes = total_bytes(slices);
    }
    const ChunkOpening opening{parts.slice_bytes};
    if (framing_ == Framing::chunked && parts.slice_bytes > 0) {
        parts.opening = opening.text();
        parts.closing = last ? "\r\n0\r\n\r\n" : "\r\n";
    } else if (framing_ == Framing::chunked && last) {
        parts.closing = last_chunk;
    }
    return transmit(parts, last ? Phase::whole : Phase::streaming);
}

void ResponseWriter::abort() noexcept {
    if (phase_ == Phase::whole) return;
    free_memory(head_);
    phase_ = Phase::broken;
    reset_ = framing_ == Framing::until_close && sent_bytes_ > 0;
}

void ResponseWriter::make_head(int status, Framing framing, std::uint64_t content_length,
                               std::span<const Field> fields) {
    if (server_.draining.fired() || !reader_.consumed()) last_ = true;
    head_ = make_response_head({.status = status,
                                .minor_version = minor_version_,
                                .framing = framing,
                                .content_length = content_length,
                                .keep_alive = !last_,
                                .date = server_.date.at(server_.now())},
                               fields);
}

base::Result<bool> ResponseWriter::push(Gather& gather) noexcept {
    std::array<iovec, 64> window;
    while (!gather.done()) {
        const auto count = socket_.try_writev(gather.fill(window));
        if (!count) return base::fail(base::ErrorCode::closed, count.error().message());
        sent_bytes_ += count->bytes;
        gather.advance(count->bytes);
        if (count->would_block) return false;
    }
    return true;
}

io::Task<base::Status> ResponseWriter::transmit(const Gather::Parts& parts, Phase next) {
    using Ended = io::Task<base::Status>;
    if (phase_ != Phase::streaming) return Ended::ended(base::fail(base::ErrorCode::closed, "the response has ended"));
    Gather gather{parts};
    const auto pushed = push(gather);
    if (!pushed || *pushed) {
        finish(pushed.has_value(), next);
        return Ended::ended(pushed ? base::Status{} : base::Status{std::unexpect, pushed.error()});
    }
    // The slices of a relayed stream lie in a buffer that others read into as soon as this waits. A whole body is the
    // caller's own, and may be long: it is not copied.
    const bool is_stream = framing_ != Framing::none;
    return wait_and_push(gather, is_stream ? gather.rest() : std::string{}, next);
}

// `kept`: what is left of `gather`, where its own parts do not live as long as this.
io::Task<base::Status> ResponseWriter::wait_and_push(Gather gather, std::string kept, Phase next) {
    if (!kept.empty()) gather = Gather{{.head = kept}};
    base::Result<bool> pushed = false;
    while (pushed && !*pushed) {
        const auto before = sent_bytes_;
        const auto stalled_at = server_.now() + server_.limits.write_stall_timeout;
        const io::Wait wait{.deadline = std::min(stalled_at, deadline_), .cancel = &server_.cut};
        do {
            const base::Status writable = co_await socket_.wait_writable(wait);
            pushed = writable ? push(gather) : base::Result<bool>{std::unexpect, writable.error()};
        } while (pushed && !*pushed && sent_bytes_ == before);
    }
    finish(pushed.has_value(), next);
    if (!pushed) co_return std::unexpected{pushed.error()};
    co_return base::Status{};
}

void ResponseWriter::finish(bool sent, Phase next) noexcept {
    free_memory(head_);
    if (phase_ == Phase::streaming) phase_ = sent ? next : Phase::broken;
    reset_ = reset_ || !sent;
    if (next == Phase::whole) reader_.release_head();
}

}  // namespace weir::http
