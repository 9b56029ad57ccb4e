#include "http/ascii.h"

#include "base/sixteen.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace weir::http {
namespace {

// Whether `is_common` holds for the last bytes of `text`, less than sixteen from `at` on, as far as one look can tell.
template <class IsCommon>
bool ends_in_common(std::string_view text, std::size_t at, IsCommon is_common) noexcept {
    const std::size_t left = text.size() - at;
    if (text.size() >= 16) {
        const auto common = base::which(is_common(base::load_sixteen(text.data() + text.size() - 16)));
        return (~common & 0xffffU) >> (16 - left) == 0;
    }
    if (left < 8) return false;
    char both[16];  // the first eight and the last eight, which overlap
    std::memcpy(both, text.data() + at, 8);
    std::memcpy(both + 8, text.data() + text.size() - 8, 8);
    return base::which(is_common(base::load_sixteen(both))) == 0xffffU;
}

// Every head passes here, so what `is_common` says of sixteen bytes costs a few instructions for all of them. What it
// does not know is looked up.
template <class IsCommon, class IsAllowed>
std::size_t count_run(std::string_view text, IsCommon is_common, IsAllowed is_allowed) noexcept {
    constexpr std::uint32_t all = 1U << 16U;
    std::size_t at = 0;
    while (text.size() - at >= 16) {
        const auto common = base::which(is_common(base::load_sixteen(text.data() + at)));
        const auto count = static_cast<std::size_t>(std::countr_zero(~common | all));
        at += count;
        if (count == 16) continue;
        if (!is_allowed(text[at])) return at;
        ++at;
    }
    if (ends_in_common(text, at, is_common)) return text.size();
    while (at < text.size() && is_allowed(text[at]))
        ++at;
    return at;
}

auto are_letters(base::Sixteen bytes) noexcept { return (bytes | 0x20) - 'a' < 26; }

// Eight bytes in lower case.
std::uint64_t load_lower(const char* bytes) noexcept {
    using Eight = unsigned char __attribute__((vector_size(8)));
    Eight loaded;
    std::memcpy(&loaded, bytes, sizeof loaded);
    loaded |= (loaded - 'A' < 26) & 0x20;
    return std::bit_cast<std::uint64_t>(loaded);
}

}  // namespace

std::size_t count_token_chars(std::string_view text) noexcept {
    const auto is_common = [](base::Sixteen bytes) { return are_letters(bytes) | (bytes - '0' < 10) | (bytes == '-'); };
    return count_run(text, is_common, is_token_char);
}

std::size_t count_value_chars(std::string_view text) noexcept {
    const auto is_common = [](base::Sixteen bytes) { return (bytes >= 0x20) & (bytes != 0x7f); };
    return count_run(text, is_common, is_value_char);
}

std::size_t count_target_chars(std::string_view text) noexcept {
    // From the hyphen to the nine there are a point, a slash and the digits.
    const auto is_common = [](base::Sixteen bytes) { return are_letters(bytes) | (bytes - '-' <= '9' - '-'); };
    return count_run(text, is_common, is_target_char);
}

std::size_t count_host_chars(std::string_view text) noexcept {
    const auto is_common = [](base::Sixteen bytes) {
        return are_letters(bytes) | ((bytes - '-' <= ':' - '-') & (bytes != '/'));
    };
    return count_run(text, is_common, is_host_char);
}

bool ascii_detail::same_letters(std::string_view left, std::string_view right) noexcept {
    std::size_t at = 0;
    for (; left.size() - at >= 8; at += 8)
        if (load_lower(left.data() + at) != load_lower(right.data() + at)) return false;
    for (; at < left.size(); ++at)
        if (left[at] != right[at] && to_lower(left[at]) != to_lower(right[at])) return false;
    return true;
}

}  // namespace weir::http
