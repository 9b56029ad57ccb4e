// Character classes of HTTP's grammar (RFC 9110, 9112) and comparison without case. ASCII only, no locale.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::http {

namespace ascii_detail {

inline constexpr std::uint8_t token_bit = 1;
inline constexpr std::uint8_t value_bit = 2;
inline constexpr std::uint8_t target_bit = 4;
inline constexpr std::uint8_t host_bit = 8;

[[nodiscard]] consteval std::array<std::uint8_t, 256> make_classes() {
    std::array<std::uint8_t, 256> classes{};
    const auto mark = [&classes](std::string_view members, std::uint8_t bit) {
        for (const char c : members)
            classes[static_cast<unsigned char>(c)] |= bit;
    };
    constexpr std::string_view alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    mark(alphanumeric, token_bit | target_bit | host_bit);
    mark("!#$%&'*+-.^_`|~", token_bit);
    mark("-._~!$&'()*+,;=:@/?%[]", target_bit);
    mark("-._~!$&'()*+;=:%[]", host_bit);
    classes['\t'] |= value_bit;
    for (unsigned c = 0x20; c < 0x100; ++c) {
        if (c != 0x7f) classes[c] |= value_bit;
    }
    return classes;
}

inline constexpr std::array<std::uint8_t, 256> classes = make_classes();

[[nodiscard]] constexpr bool is(char c, std::uint8_t bit) noexcept {
    return (classes[static_cast<unsigned char>(c)] & bit) != 0;
}

}  // namespace ascii_detail

// A letter of a method or of a field's name.
[[nodiscard]] constexpr bool is_token_char(char c) noexcept { return ascii_detail::is(c, ascii_detail::token_bit); }
// What a field's value may hold: tab, blank, visible ASCII, bytes from 0x80.
[[nodiscard]] constexpr bool is_value_char(char c) noexcept { return ascii_detail::is(c, ascii_detail::value_bit); }
// What a request target may hold (RFC 3986, without the fragment).
[[nodiscard]] constexpr bool is_target_char(char c) noexcept { return ascii_detail::is(c, ascii_detail::target_bit); }
// What a Host field or an authority without user information may hold.
[[nodiscard]] constexpr bool is_host_char(char c) noexcept { return ascii_detail::is(c, ascii_detail::host_bit); }

// How many of those `text` begins with.
[[nodiscard]] std::size_t count_token_chars(std::string_view text) noexcept;
[[nodiscard]] std::size_t count_value_chars(std::string_view text) noexcept;
[[nodiscard]] std::size_t count_target_chars(std::string_view text) noexcept;
[[nodiscard]] std::size_t count_host_chars(std::string_view text) noexcept;
[[nodiscard]] inline bool are_value_chars(std::string_view text) noexcept {
    return count_value_chars(text) == text.size();
}

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

[[nodiscard]] constexpr char to_lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

namespace ascii_detail {

[[nodiscard]] bool same_letters(std::string_view left, std::string_view right) noexcept;

}  // namespace ascii_detail

[[nodiscard]] inline bool equals_ignoring_case(std::string_view left, std::string_view right) noexcept {
    return left.size() == right.size() && ascii_detail::same_letters(left, right);
}

[[nodiscard]] constexpr std::string_view trim_blanks(std::string_view text) noexcept {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && is_blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back()))
        text.remove_suffix(1);
    return text;
}

// Whether a Content-Type names this media type, whatever its parameters.
[[nodiscard]] inline bool media_type_is(std::string_view content_type, std::string_view media_type) noexcept {
    return equals_ignoring_case(trim_blanks(content_type.substr(0, content_type.find(';'))), media_type);
}

}  // namespace weir::http
