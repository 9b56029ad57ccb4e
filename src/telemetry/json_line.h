// JsonLine: appends JSON to a string through a buffer of its own, for the one text that is made of every request.
// Commas and nesting are the caller's, quoting is its own: strings are escaped, and what is not UTF-8 becomes U+FFFD.
// Invariant: the string is whole after finish(). Not thread-safe.
#pragma once

#include "base/json_writer.h"
#include "base/time.h"

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
    JsonLine& word(std::string_view text) { return put('"').plain(text).put('"'); }
    JsonLine& string(std::string_view text) { return put('"').inside_string(text).put('"'); }
    JsonLine& inside_string(std::string_view text) { return is_plain(text) ? plain(text) : escaped(text); }
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
    // Printable ASCII without quote and backslash: eight bytes at a time.
    [[nodiscard]] static bool is_plain(std::string_view text) noexcept {
        constexpr std::uint64_t ones = 0x0101010101010101U;
        constexpr std::uint64_t tops = ones * 0x80U;
        std::uint64_t bad = 0;
        const auto look = [&bad](std::uint64_t word) {
            const auto has_zero = [](std::uint64_t value) { return (value - ones) & ~value; };
            bad |= word | (word - ones * 0x20U) | has_zero(word ^ ones * '"') | has_zero(word ^ ones * '\\') |
                   (word + ones);  // 0x7F
        };
        std::size_t i = 0;
        for (; i + 8 <= text.size(); i += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, text.data() + i, 8);
            look(word);
        }
        if (i < text.size()) {
            std::uint64_t word = ones * 'x';
            std::memcpy(&word, text.data() + i, text.size() - i);
            look(word);
        }
        return (bad & tops) == 0;
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
