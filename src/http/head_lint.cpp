#include "http/head_lint.h"

#include "http/ascii.h"

#include <algorithm>
#include <utility>

namespace weir::http {
namespace {

using Checked = std::expected<void, HeadError>;

std::unexpected<HeadError> malformed(std::string_view message) noexcept {
    return std::unexpected{HeadError{.fault = Fault::malformed, .message = message}};
}

// Cuts the next line off `rest`, without its CRLF. `rest` holds at least one CRLF.
std::string_view take_line(std::string_view& rest) noexcept {
    const auto end = rest.find('\n');
    const auto line = rest.substr(0, end - 1);
    rest.remove_prefix(end + 1);
    return line;
}

// What was read so far.
struct Reading {
    Meaning meaning;
    bool has_host = false;
};

Checked read_host(std::string_view value, Reading& reading) noexcept {
    if (std::exchange(reading.has_host, true)) return malformed("Host is given twice");
    if (value.empty() || count_host_chars(value) != value.size()) return malformed("the Host field is not a host");
    return {};
}

Checked read_content_length(std::string_view value, Meaning& meaning) noexcept {
    if (meaning.content_length) return malformed("Content-Length is given twice");
    // 18 digits cannot overflow 64 bits and are more than any body has.
    if (value.empty() || value.size() > 18 || !std::ranges::all_of(value, is_digit)) {
        return malformed("Content-Length is not one decimal number");
    }
    std::uint64_t length = 0;
    for (const char digit : value)
        length = length * 10 + static_cast<std::uint64_t>(digit - '0');
    meaning.content_length = length;
    return {};
}

Checked read_coding(std::string_view value, Meaning& meaning) noexcept {
    if (std::exchange(meaning.chunked, true)) return malformed("Transfer-Encoding is given twice");
    if (!equals_ignoring_case(value, "chunked")) return malformed("Transfer-Encoding is not exactly chunked");
    return {};
}

// A list of tokens (RFC 9110, 7.6.1); empty items are allowed (5.6.1).
Checked read_connection(std::string_view value, Meaning& meaning) noexcept {
    while (!value.empty()) {
        const auto end = std::min(value.find(','), value.size());
        const auto token = trim_blanks(value.substr(0, end));
        value.remove_prefix(std::min(end + 1, value.size()));
        if (!std::ranges::all_of(token, is_token_char))
            return malformed("the Connection field is not a list of tokens");
        meaning.close = meaning.close || equals_ignoring_case(token, "close");
        meaning.keep_alive = meaning.keep_alive || equals_ignoring_case(token, "keep-alive");
    }
    return {};
}

// The fields that decide where a message ends, and whom it is for.
Checked read_meaning(const Field& field, Reading& reading) noexcept {
    const auto is = [&field](std::string_view name) { return equals_ignoring_case(field.name, name); };
    switch (field.name.size()) {
        case 4: return is("host") ? read_host(field.value, reading) : Checked{};
        case 10: return is("connection") ? read_connection(field.value, reading.meaning) : Checked{};
        case 14: return is("content-length") ? read_content_length(field.value, reading.meaning) : Checked{};
        case 17: return is("transfer-encoding") ? read_coding(field.value, reading.meaning) : Checked{};
        default: return {};
    }
}

// Cuts the next field off `rest`, its CRLF included.
std::expected<Field, HeadError> take_field(std::string_view& rest) noexcept {
    if (rest.starts_with(' ') || rest.starts_with('\t')) return malformed("a field is folded over two lines");
    const auto name = rest.substr(0, count_token_chars(rest));
    const auto behind_name = rest.substr(name.size());
    if (name.empty() || !behind_name.starts_with(':')) {
        return malformed("a field's name is not a token followed by a colon");
    }
    const auto value = behind_name.substr(1, count_value_chars(behind_name.substr(1)));
    rest = behind_name.substr(1 + value.size());
    if (!rest.starts_with("\r\n")) return malformed("a field's value holds a control character");
    rest.remove_prefix(2);
    return Field{.name = name, .value = trim_blanks(value)};
}

Checked read_fields(std::string_view rest, FieldTable& fields, Reading& reading) {
    while (!rest.starts_with("\r\n")) {
        if (fields.all().size() == max_fields) {
            return std::unexpected{
                HeadError{.fault = Fault::head_too_large, .message = "the head has too many fields"}};
        }
        const auto field = take_field(rest);
        if (!field) return std::unexpected{field.error()};
        if (auto read = read_meaning(*field, reading); !read) return read;
        fields.add(*field);
    }
    return {};
}

Checked check_version(std::string_view version) noexcept {
    if (version == "HTTP/1.1" || version == "HTTP/1.0") return {};
    const bool other = version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5]) &&
                       version[6] == '.' && is_digit(version[7]);
    if (!other) return malformed("the start line has no HTTP version");
    return std::unexpected{
        HeadError{.fault = Fault::unsupported_version, .message = "only HTTP/1.1 and HTTP/1.0 are spoken here"}};
}

Checked check_request_line(std::string_view line, RequestHead& head) noexcept {
    head.method = line.substr(0, count_token_chars(line));
    if (head.method.empty() || !line.substr(head.method.size()).starts_with(' ')) {
        return malformed("the request line does not begin with a method");
    }
    line.remove_prefix(head.method.size() + 1);
    head.target = line.substr(0, count_target_chars(line));
    if (head.target.empty()) return malformed("the request line has no target");
    line.remove_prefix(head.target.size());
    if (line.empty()) return malformed("the request line has no version");
    if (!line.starts_with(' ')) return malformed("the request target holds a character that must be escaped");
    line.remove_prefix(1);
    if (auto checked = check_version(line); !checked) return checked;
    head.minor_version = line.back() - '0';
    return {};
}

Checked check_status_line(std::string_view line, ResponseHead& head) noexcept {
    if (auto checked = check_version(line.substr(0, line.find(' '))); !checked) return checked;
    const bool has_status = line.size() >= 13 && std::ranges::all_of(line.substr(9, 3), is_digit) && line[9] >= '1' &&
                            line[9] <= '5' && line[12] == ' ';
    if (!has_status) return malformed("the status line has no status");
    if (!are_value_chars(line.substr(13))) return malformed("the reason holds a control character");
    head.status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
    head.minor_version = line[7] - '0';
    return {};
}

// Rules about fields together, the same in both directions.
std::expected<Meaning, HeadError> checked_together(int minor_version, const Meaning& meaning) noexcept {
    if (meaning.chunked && meaning.content_length)
        return malformed("both Content-Length and Transfer-Encoding are given");
    if (meaning.chunked && minor_version == 0) return malformed("Transfer-Encoding is given in HTTP/1.0");
    return meaning;
}

}  // namespace

std::expected<Meaning, HeadError> lint_request(std::string_view bytes, RequestHead& head) {
    if (auto checked = check_request_line(take_line(bytes), head); !checked) return std::unexpected{checked.error()};
    Reading reading;
    if (auto read = read_fields(bytes, head.fields, reading); !read) return std::unexpected{read.error()};
    if (!reading.has_host && head.minor_version == 1) return malformed("the Host field is missing");
    return checked_together(head.minor_version, reading.meaning);
}

std::expected<Meaning, HeadError> lint_response(std::string_view bytes, ResponseHead& head) {
    if (auto checked = check_status_line(take_line(bytes), head); !checked) return std::unexpected{checked.error()};
    Reading reading;
    if (auto read = read_fields(bytes, head.fields, reading); !read) return std::unexpected{read.error()};
    return checked_together(head.minor_version, reading.meaning);
}

}  // namespace weir::http
