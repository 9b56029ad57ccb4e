// JsonLine: appends JSON to a string through a buffer of its own, for the one text that is made of every request.
// Commas and nesting are the caller's, quoting is its own: strings are escaped, and what is not UTF-8 becomes U+FFFD.
// Invariant: the string is whole after finish(). Not thread-safe.
#pragma once

#include "base/json_writer.h"
#include "base/time.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace weir::telemetry {

class JsonLine {
public:
    explicit JsonLine(std::string& out) noexcept : out_{out} {}
    JsonLine(const JsonLine&) = delete;
    JsonLine& operator=(const JsonLine&) = delete;
    void finish() { flush(); }

    // JSON text of the program's own.
    template <std::size_t N>
    JsonLine& raw(const char (&text)[N]) {
        static_assert(N <= longest_copied);
        room(N);
        std::memcpy(at_, text, N - 1);
        at_ += N - 1;
        return *this;
    }
    // A comma, unless a bracket stands before it.
    JsonLine& item() {
        room(1);
        if (at_[-1] != '[' && at_[-1] != '{') *at_++ = ',';
        return *this;
    }
    JsonLine& open(char bracket) { return put(bracket); }
    JsonLine& close(char bracket) { return put(bracket); }
    // Text without anything to escape.
    JsonLine& plain(std::string_view text) {
        if (text.size() > longest_copied) return append(text);
        if (text.empty()) return *this;  // which may have no address
        room(text.size());
        std::memcpy(at_, text.data(), text.size());
        at_ += text.size();
        return *this;
    }
    JsonLine& string(std::string_view text) {
        if (text.size() > longest_copied) return put('"').escaped(text).put('"');
        room(text.size() + 2);
        *at_++ = '"';
        if (!copy_plain(text.data(), text.size(), at_)) return escaped(text).put('"');
        char* const end = at_ + text.size();
        *end = '"';
        at_ = end + 1;
        return *this;
    }
    JsonLine& inside_string(std::string_view text) {
        room(std::min(text.size(), longest_copied));
        if (text.size() > longest_copied || !copy_plain(text.data(), text.size(), at_)) return escaped(text);
        at_ += text.size();
        return *this;
    }
    template <class T>
    JsonLine& number(T value) {
        if constexpr (std::is_floating_point_v<T>)
            if (!std::isfinite(value)) return raw("null");
        room(number_room);
        at_ = std::to_chars(at_, at_ + number_room, value).ptr;
        return *this;
    }
    // By hand, because a record has ten of them and the exact conversion of a double is ten times dearer.
    JsonLine& milliseconds(double value) {
        constexpr double largest = 1e12;  // thirty years
        if (!(std::abs(value) < largest)) return raw("null");
        auto thousandths = std::llround(value * 1000);
        if (thousandths < 0) put('-');
        thousandths = std::abs(thousandths);
        number(static_cast<std::uint64_t>(thousandths / 1000));
        room(4);
        const auto rest = static_cast<unsigned>(thousandths % 1000);
        *at_++ = '.';
        *at_++ = static_cast<char>('0' + rest / 100);
        *at_++ = static_cast<char>('0' + rest / 10 % 10);
        *at_++ = static_cast<char>('0' + rest % 10);
        return *this;
    }
    JsonLine& time(base::WallTime value) {
        put('"');
        room(base::rfc3339_bytes);
        base::put_rfc3339(value, std::span<char, base::rfc3339_bytes>{at_, base::rfc3339_bytes});
        at_ += base::rfc3339_bytes;
        return put('"');
    }

private:
    static constexpr std::size_t buffer_bytes = 4096;
    static constexpr std::size_t longest_copied = 1024;
    static constexpr std::size_t number_room = 32;

    void room(std::size_t bytes) {
        if (static_cast<std::size_t>(buffer_ + buffer_bytes - at_) < bytes) flush();
    }
    // The last character stays in sight, for item().
    void flush() {
        out_.append(first_, at_);
        buffer_[0] = at_[-1];
        at_ = first_;
    }
    JsonLine& append(std::string_view text) {
        flush();
        out_.append(text);
        buffer_[0] = text.back();
        return *this;
    }
    JsonLine& put(char c) {
        room(1);
        *at_++ = c;
        return *this;
    }
    using Sixteen = signed char __attribute__((vector_size(16)));
    // Which are not printable ASCII, or a quote or backslash. Bytes from 0x80 on are below zero.
    [[nodiscard]] static Sixteen odd_of(Sixteen bytes) noexcept {
        return (bytes < 0x20) | (bytes == '"') | (bytes == '\\') | (bytes == 0x7F);
    }
    // A text of two words' length or less, as its first and its last word, which may overlap.
    template <class Word>
    [[nodiscard]] static Sixteen copy_ends(const char* from, std::size_t size, char* to) noexcept {
        constexpr std::uint64_t unused = sizeof(Word) == 8 ? 0 : ~std::uint64_t{0} << (sizeof(Word) % 8 * 8);
        constexpr std::uint64_t padding = unused & 0x7878787878787878U;  // "xxxxxxxx"
        Word first;
        Word last;
        std::memcpy(&first, from, sizeof first);
        std::memcpy(&last, from + size - sizeof last, sizeof last);
        std::memcpy(to, &first, sizeof first);
        std::memcpy(to + size - sizeof last, &last, sizeof last);
        const std::array<std::uint64_t, 2> words{first | padding, last | padding};
        return odd_of(std::bit_cast<Sixteen>(words));
    }
    // False = something in it must be escaped.
    [[nodiscard]] static bool copy_plain(const char* from, std::size_t size, char* to) noexcept {
        Sixteen odd{};
        if (size >= sizeof odd) {
            const auto copy = [&odd, from, to](std::size_t at) {
                Sixteen bytes;
                std::memcpy(&bytes, from + at, sizeof bytes);
                std::memcpy(to + at, &bytes, sizeof bytes);
                odd |= odd_of(bytes);
            };
            for (std::size_t at = 0; at + sizeof odd < size; at += sizeof odd)
                copy(at);
            copy(size - sizeof odd);
        } else if (size >= 8) {
            odd = copy_ends<std::uint64_t>(from, size, to);
        } else if (size >= 4) {
            odd = copy_ends<std::uint32_t>(from, size, to);
        } else if (size >= 2) {
            odd = copy_ends<std::uint16_t>(from, size, to);
        } else if (size == 1) {
            odd = copy_ends<std::uint8_t>(from, size, to);
        }
        const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(odd);
        return (halves[0] | halves[1]) == 0;
    }
    JsonLine& escaped(std::string_view text) {
        std::string quoted;
        base::append_json_string(quoted, text);
        return plain(std::string_view{quoted}.substr(1, quoted.size() - 2));
    }

    std::string& out_;
    char buffer_[buffer_bytes];  // not initialised: that would cost as much as filling it
    char* const first_ = buffer_ + 1;
    char* at_ = first_;
};

}  // namespace weir::telemetry
