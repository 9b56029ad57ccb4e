#include "gateway/event_shape.h"

#include "base/sixteen.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>

namespace weir::gateway {

std::optional<std::size_t> plain_string_bytes(std::string_view text, std::size_t at) {
    const char* const begin = text.data() + at;
    const char* const end = text.data() + text.size();
    const char* next = begin;
    const auto stops = [](auto byte) { return (byte < 0x20) | (byte == '"') | (byte == '\\'); };
    std::uint32_t beyond_ascii = 0;
    std::uint32_t stop = 0;
    while (stop == 0 && end - next >= 16) {
        const auto bytes = base::load_sixteen(next);
        stop = base::which(stops(bytes));
        beyond_ascii |= base::which(bytes >= 0x80) & (stop - 1) & ~stop;  // those before the stop
        next += std::min(std::countr_zero(stop), 16);
    }
    for (; stop == 0 && next < end && !stops(static_cast<unsigned char>(*next)); ++next)
        beyond_ascii |= static_cast<unsigned char>(*next) >= 0x80 ? 1 : 0;
    if (next == end || *next != '"') return std::nullopt;
    const auto bytes = static_cast<std::size_t>(next - begin);
    if (beyond_ascii != 0 && !simdjson::validate_utf8(begin, bytes)) return std::nullopt;
    return bytes;
}

void EventShape::learn(std::string_view event, StringSpan varying) {
    assert(varying.begin < varying.end && varying.end < event.size());
    event_.assign(event.size() > longest_event ? "" : event);
    varying_ = varying;
}

std::optional<std::size_t> EventShape::match(std::string_view bytes) const {
    const std::size_t after = event_.size() - varying_.end;
    if (event_.empty() || bytes.size() < varying_.begin + after) return std::nullopt;
    if (std::memcmp(bytes.data(), event_.data(), varying_.begin) != 0) return std::nullopt;
    const auto string_bytes = plain_string_bytes(bytes, varying_.begin);
    if (!string_bytes || *string_bytes == 0) return std::nullopt;
    const auto rest = bytes.substr(varying_.begin + *string_bytes);
    if (rest.size() < after || std::memcmp(rest.data(), event_.data() + varying_.end, after) != 0) return std::nullopt;
    return string_bytes;
}

}  // namespace weir::gateway
