#include "http/ascii.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace weir::http {
namespace {

// Many bytes at once, in whatever the target has for it.
using Sixteen = unsigned char __attribute__((vector_size(16)));
using Eight = unsigned char __attribute__((vector_size(8)));

// Whether one of the bytes is below 0x20 or is DEL. Every head passes here, so the common case costs a few
// instructions for many bytes; the tab, which is allowed, is left to the table.
template <class Bytes>
bool may_hold_control(Bytes bytes) noexcept {
    const auto odd = (bytes < 0x20) | (bytes == 0x7f);
    std::array<std::uint64_t, sizeof(Bytes) / 8> words;
    std::memcpy(words.data(), &odd, sizeof odd);
    std::uint64_t any = 0;
    for (const std::uint64_t word : words)
        any |= word;
    return any != 0;
}

// Counts whole runs of sizeof(Bytes) bytes from `count` on; false = a run holds what may not be there.
template <class Bytes>
bool count_runs(std::string_view text, std::size_t& count) noexcept {
    Bytes bytes;
    while (text.size() - count >= sizeof bytes) {
        std::memcpy(&bytes, text.data() + count, sizeof bytes);
        if (may_hold_control(bytes) && !std::ranges::all_of(text.substr(count, sizeof bytes), is_value_char))
            return false;
        count += sizeof bytes;
    }
    return true;
}

}  // namespace

std::size_t count_value_chars(std::string_view text) noexcept {
    std::size_t count = 0;
    if (count_runs<Sixteen>(text, count)) static_cast<void>(count_runs<Eight>(text, count));
    while (count < text.size() && is_value_char(text[count]))
        ++count;
    return count;
}

}  // namespace weir::http
