#include "gateway/event_shape.h"

#include <simdjson.h>

#include <cassert>
#include <cstdint>
#include <cstring>

namespace weir::gateway {

namespace {

constexpr std::uint64_t every_byte = 0x0101010101010101;
constexpr std::uint64_t high_bits = every_byte * 0x80;

// True when none of eight bytes ends or interrupts plain ASCII text: quote, backslash, control character, not ASCII.
bool all_plain(std::uint64_t eight) noexcept {
    const auto has_zero = [](std::uint64_t bytes) { return (bytes - every_byte) & ~bytes & high_bits; };
    const std::uint64_t below_blank = (eight - every_byte * 0x20) & ~eight;
    return ((below_blank | eight) & high_bits) == 0 && has_zero(eight ^ (every_byte * '"')) == 0 &&
           has_zero(eight ^ (every_byte * '\\')) == 0;
}

}  // namespace

std::optional<std::size_t> plain_string_bytes(std::string_view text, std::size_t at) {
    const char* const begin = text.data() + at;
    const char* const end = text.data() + text.size();
    bool ascii = true;
    for (const char* next = begin; next < end; ++next) {
        std::uint64_t eight = 0;
        while (end - next >= 8 && (std::memcpy(&eight, next, sizeof eight), all_plain(eight)))
            next += 8;
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
