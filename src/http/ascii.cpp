#include "http/ascii.h"

#include <algorithm>
#include <cstring>

namespace weir::http {
namespace {

constexpr std::uint64_t every_byte = 0x0101010101010101;
constexpr std::uint64_t high_bits = every_byte * 0x80;

// Whether one of eight bytes is below 0x20 or is DEL. Every head passes here, so the common case costs a few
// instructions for eight bytes; the tab, which is allowed, is left to the table.
bool may_hold_control(std::uint64_t eight) noexcept {
    const std::uint64_t below_blank = (eight - every_byte * 0x20) & ~eight;
    const std::uint64_t from_del = eight ^ (every_byte * 0x7f);
    const std::uint64_t is_del = (from_del - every_byte) & ~from_del;
    return ((below_blank | is_del) & high_bits) != 0;
}

}  // namespace

std::size_t count_value_chars(std::string_view text) noexcept {
    std::size_t count = 0;
    while (text.size() - count >= sizeof(std::uint64_t)) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, text.data() + count, sizeof eight);
        if (may_hold_control(eight) && !std::ranges::all_of(text.substr(count, sizeof eight), is_value_char)) break;
        count += sizeof eight;
    }
    while (count < text.size() && is_value_char(text[count]))
        ++count;
    return count;
}

}  // namespace weir::http
