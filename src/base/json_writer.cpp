#include "base/json_writer.h"

#include "base/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace weir::base {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

void append_escaped(std::string& out, char c) {
    switch (c) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: break;  // the other control characters have no short form
    }
    const auto byte = static_cast<unsigned char>(c);
    out += "\\u00";
    out += hex_digits[byte >> 4U];
    out += hex_digits[byte & 0x0FU];
}

bool needs_escape(char c) noexcept {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' || c == 0x7F;
}

void append_valid(std::string& out, std::string_view text) {
    std::size_t copied = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!needs_escape(text[i])) continue;
        out += text.substr(copied, i - copied);
        append_escaped(out, text[i]);
        copied = i + 1;
    }
    out += text.substr(copied);
}

template <class... Arguments>
void append_number(std::string& out, Arguments... arguments) {
    std::array<char, 512> buffer;  // the largest double has 309 digits before the point
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), arguments...);
    if (error == std::errc{})
        out.append(buffer.data(), end);
    else
        out += "null";
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const std::size_t valid = valid_utf8_prefix(text);
        append_valid(out, text.substr(0, valid));
        text.remove_prefix(valid);
        if (text.empty()) break;
        out += replacement;
        text.remove_prefix(1);
    }
    out += '"';
}

void JsonWriter::before_value() {
    if (comma_due_) out_ += ',';
    comma_due_ = true;
}

JsonWriter& JsonWriter::begin_object() {
    before_value();
    out_ += '{';
    comma_due_ = false;
    return *this;
}

JsonWriter& JsonWriter::begin_array() {
    before_value();
    out_ += '[';
    comma_due_ = false;
    return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
    out_ += bracket;
    comma_due_ = true;
    return *this;
}

JsonWriter& JsonWriter::end_object() { return close('}'); }
JsonWriter& JsonWriter::end_array() { return close(']'); }

JsonWriter& JsonWriter::key(std::string_view name) {
    before_value();
    append_json_string(out_, name);
    out_ += ':';
    comma_due_ = false;
    return *this;
}

JsonWriter& JsonWriter::string(std::string_view text) {
    before_value();
    append_json_string(out_, text);
    return *this;
}

JsonWriter& JsonWriter::signed_number(std::int64_t value) {
    before_value();
    append_number(out_, value);
    return *this;
}

JsonWriter& JsonWriter::unsigned_number(std::uint64_t value) {
    before_value();
    append_number(out_, value);
    return *this;
}

JsonWriter& JsonWriter::number(double value) {
    if (!std::isfinite(value)) return null();
    before_value();
    append_number(out_, value);
    return *this;
}

JsonWriter& JsonWriter::number(double value, int decimals) {
    if (!std::isfinite(value)) return null();
    before_value();
    append_number(out_, value, std::chars_format::fixed, decimals);
    return *this;
}

JsonWriter& JsonWriter::boolean(bool value) { return raw(value ? "true" : "false"); }
JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
    before_value();
    out_ += json;
    return *this;
}

std::string JsonWriter::take() && {
    comma_due_ = false;
    return std::move(out_);
}

void JsonWriter::clear() noexcept {
    out_.clear();
    comma_due_ = false;
}

}  // namespace weir::base
