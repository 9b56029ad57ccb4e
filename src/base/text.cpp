#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weir::base {

namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The length of the UTF-8 sequence at the front of text, 0 when it is not valid. Table 3-7 of the Unicode standard.
std::size_t sequence_length(std::string_view text) noexcept {
    const auto at = [&](std::size_t i) {
        return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
    };
    const auto continues = [&](std::size_t i, std::uint8_t low = 0x80, std::uint8_t high = 0xBF) {
        return at(i) >= low && at(i) <= high;
    };
    const std::uint8_t lead = at(0);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        const std::uint8_t low = lead == 0xE0 ? 0xA0 : 0x80;   // no overlong forms
        const std::uint8_t high = lead == 0xED ? 0x9F : 0xBF;  // no surrogates
        return continues(1, low, high) && continues(2) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const std::uint8_t low = lead == 0xF0 ? 0x90 : 0x80;
        const std::uint8_t high = lead == 0xF4 ? 0x8F : 0xBF;  // nothing above U+10FFFF
        return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    // Rows of the optimal-string-alignment table: two above, one above, the one being filled.
    std::vector<std::size_t> older(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        above[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], older[j - 2] + 1);
        }
        std::swap(older, above);
        std::swap(above, row);
    }
    return above[b.size()];
}

std::optional<std::string_view> did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
    constexpr std::size_t longest = 64;  // longer words are not typing errors, and the comparison is quadratic
    if (word.empty() || word.size() > longest) return std::nullopt;
    const auto wanted = to_lower(word);
    std::size_t allowed = std::clamp<std::size_t>(word.size() / 3, 1, 3);
    std::optional<std::string_view> best;
    for (const auto candidate : candidates) {
        if (candidate.size() > longest || candidate.size() < 2) continue;
        const std::size_t distance = edit_distance(wanted, to_lower(candidate));
        if (distance > allowed || (best && distance == allowed)) continue;
        best = candidate;
        allowed = distance;
    }
    return best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
    const auto meant = did_you_mean(word, candidates);
    return meant ? "; did you mean " + std::string{*meant} + "?" : std::string{};
}

std::size_t valid_utf8_prefix(std::string_view text) noexcept {
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t length = sequence_length(text.substr(at, 4));
        if (length == 0) break;
        at += length;
    }
    return at;
}

bool is_valid_utf8(std::string_view text) noexcept { return valid_utf8_prefix(text) == text.size(); }

std::string quoted(std::string_view text, std::size_t max_bytes) {
    std::string result = "'";
    while (!text.empty()) {
        const std::size_t length = sequence_length(text.substr(0, 4));
        const bool control = length == 1 && (static_cast<std::uint8_t>(text[0]) < 0x20 || text[0] == 0x7F);
        if (result.size() + std::max<std::size_t>(length, 1) > max_bytes + 1) {
            result += "…";
            break;
        }
        if (length == 0 || control)
            result += '?';
        else
            result += text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return result + "'";
}

std::string join_or(std::span<const std::string_view> words) {
    std::string result;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) result += i + 1 == words.size() ? " or " : ", ";
        result += words[i];
    }
    return result;
}

std::string to_lower(std::string_view text) {
    std::string result{text};
    std::ranges::transform(result, result.begin(), lower);
    return result;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
    return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace weir::base
