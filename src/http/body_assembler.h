// BodyAssembler: puts a request body together from the bytes as they arrive, in either framing.
// Invariant: memory grows with the bytes that have come, never with a length that was only announced, and never
// over the limit. Sans-I/O. Units: bytes.
#pragma once

#include "http/chunk.h"
#include "http/head_lint.h"
#include "http/message.h"

#include <cstddef>
#include <expected>
#include <span>
#include <string>

namespace weir::http {

class BodyAssembler {
public:
    // `framing` is length (then `content_length` <= `limit_bytes`) or chunked.
    BodyAssembler(Framing framing, std::uint64_t content_length, std::size_t limit_bytes) noexcept;

    // Takes bytes in; chunked ones are decoded in place. Returns how many belong to this body: less than all of
    // them only when it is whole. Errors: malformed, body_too_large.
    [[nodiscard]] std::expected<std::size_t, HeadError> add(std::span<char> bytes);
    [[nodiscard]] bool whole() const noexcept { return whole_; }
    // The body, with 64 readable bytes behind it.
    [[nodiscard]] std::string take();

private:
    void append(std::span<const char> payload);

    std::string body_;
    ChunkDecoder chunks_;
    std::size_t limit_bytes_;  // of a chunked body; the announced length otherwise
    Framing framing_;
    bool whole_;
};

}  // namespace weir::http
