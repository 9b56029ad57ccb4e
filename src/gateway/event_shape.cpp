#include "gateway/event_shape.h"

#include <simdjson.h>

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>

namespace weir::gateway {

namespace {

// Sixteen bytes at once, in whatever the target has for it.
using Sixteen = signed char __attribute__((vector_size(16)));

// True when none of the bytes ends or interrupts plain ASCII text: quote, backslash, control character, not ASCII
// (which is negative as a signed char).
bool all_plain(Sixteen bytes) noexcept {
    const Sixteen special = (bytes < 0x20) | (bytes == '"') | (bytes == '\\');
    const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(special);
    return (halves[0] | halves[1]) == 0;
}

}  // namespace

std::optional<std::size_t> plain_string_bytes(std::string_view text, std::size_t at) {
    const char* const begin = text.data() + at;
    const char* const end = text.data() + text.size();
    bool ascii = true;
    for (const char* next = begin; next < end; ++next) {
        Sixteen sixteen;
        while (end - next >= 16 && (std::memcpy(&sixteen, next, sizeof sixteen), all_plain(sixteen)))
            next += 16;
        if (next == end) break;
        const auto byte = static_cast<unsigned char>(*next);
        if (byte == '"') {
            const auto bytes = static_cast<std::size_t>(next - begin);
            if (!ascii && !simdjson::validate_utf8(begin, bytes)) return std::nullopt;
            return bytes;
        }
        if (byte < 0x20 || byte == '\\') return std::nullopt;
        ascii = ascii && byte < 0x80;
    }
    return std::nullopt;
}

void EventShape::learn(std::string_view text, StringSpan varying) {
    assert(varying.begin < varying.end && varying.end < text.size());
    text_.assign(text);
    varying_ = varying;
    known_ = true;
}

std::optional<std::size_t> EventShape::match(std::string_view text) const {
    const std::size_t after = text_.size() - varying_.end;
    if (!known_ || text.size() < varying_.begin + after) return std::nullopt;
    if (std::memcmp(text.data(), text_.data(), varying_.begin) != 0) return std::nullopt;
    const auto bytes = plain_string_bytes(text, varying_.begin);
    if (!bytes || *bytes == 0 || varying_.begin + *bytes + after != text.size()) return std::nullopt;
    if (std::memcmp(text.data() + varying_.begin + *bytes, text_.data() + varying_.end, after) != 0)
        return std::nullopt;
    return bytes;
}

}  // namespace weir::gateway
