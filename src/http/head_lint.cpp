#include "http/head_lint.h"

#include "http/ascii.h"

#include <algorithm>

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

// What the lint counts while it walks over the fields.
struct Seen {
    std::size_t fields = 0;
    std::size_t hosts = 0;
    std::size_t lengths = 0;
    std::size_t codings = 0;
};

Checked check_host(std::string_view value) noexcept {
    if (value.empty() || !std::ranges::all_of(value, is_host_char)) return malformed("the Host field is not a host");
    return {};
}

Checked check_content_length(std::string_view value) noexcept {
    // 18 digits cannot overflow 64 bits and are more than any body has.
    if (value.empty() || value.size() > 18 || !std::ranges::all_of(value, is_digit)) {
        return malformed("Content-Length is not one decimal number");
    }
    return {};
}

Checked check_framing(std::string_view name, std::string_view value, Seen& seen) noexcept {
    if (equals_ignoring_case(name, "content-length")) {
        if (++seen.lengths > 1) return malformed("Content-Length is given twice");
        return check_content_length(value);
    }
    if (equals_ignoring_case(name, "transfer-encoding")) {
        if (++seen.codings > 1) return malformed("Transfer-Encoding is given twice");
        if (!equals_ignoring_case(value, "chunked")) return malformed("Transfer-Encoding is not exactly chunked");
    }
    return {};
}

Checked check_field(std::string_view line, Seen& seen) noexcept {
    if (++seen.fields > max_fields) {
        return std::unexpected{HeadError{.fault = Fault::head_too_large, .message = "the head has too many fields"}};
    }
    if (line.front() == ' ' || line.front() == '\t') return malformed("a field is folded over two lines");
    const auto name_end = std::ranges::find_if_not(line, is_token_char);
    if (name_end == line.begin() || name_end == line.end() || *name_end != ':') {
        return malformed("a field's name is not a token followed by a colon");
    }
    const auto name = std::string_view{line.begin(), name_end};
    const auto value = std::string_view{name_end + 1, line.end()};
    if (!std::ranges::all_of(value, is_value_char)) return malformed("a field's value holds a control character");
    if (name.size() == 4 && equals_ignoring_case(name, "host")) {
        if (++seen.hosts > 1) return malformed("Host is given twice");
        return check_host(trim_blanks(value));
    }
    return check_framing(name, trim_blanks(value), seen);
}

Checked check_fields(std::string_view rest, Seen& seen) noexcept {
    for (auto line = take_line(rest); !line.empty(); line = take_line(rest)) {
        if (auto checked = check_field(line, seen); !checked) return checked;
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

Checked check_request_line(std::string_view line) noexcept {
    const auto method_end = line.find(' ');
    const auto target_end = line.find(' ', method_end == std::string_view::npos ? method_end : method_end + 1);
    if (target_end == std::string_view::npos) return malformed("the request line is not: method, target, version");
    const auto method = line.substr(0, method_end);
    if (method.empty() || !std::ranges::all_of(method, is_token_char)) return malformed("the method is not a token");
    const auto target = line.substr(method_end + 1, target_end - method_end - 1);
    if (target.empty() || !std::ranges::all_of(target, is_target_char)) {
        return malformed("the request target holds a character that must be escaped");
    }
    return check_version(line.substr(target_end + 1));
}

Checked check_status_line(std::string_view line) noexcept {
    if (auto checked = check_version(line.substr(0, line.find(' '))); !checked) return checked;
    const bool has_status = line.size() >= 13 && std::ranges::all_of(line.substr(9, 3), is_digit) && line[9] >= '1' &&
                            line[9] <= '5' && line[12] == ' ';
    if (!has_status) return malformed("the status line has no status");
    if (!std::ranges::all_of(line.substr(13), is_value_char)) return malformed("the reason holds a control character");
    return {};
}

// Rules about fields together, the same in both directions.
Checked check_together(bool version_1_0, const Seen& seen) noexcept {
    if (seen.codings > 0 && seen.lengths > 0) return malformed("both Content-Length and Transfer-Encoding are given");
    if (seen.codings > 0 && version_1_0) return malformed("Transfer-Encoding is given in HTTP/1.0");
    return {};
}

}  // namespace

std::expected<void, HeadError> lint_request(std::string_view head) noexcept {
    const auto line = take_line(head);
    if (auto checked = check_request_line(line); !checked) return checked;
    Seen seen;
    if (auto checked = check_fields(head, seen); !checked) return checked;
    const bool version_1_0 = line.ends_with("1.0");
    if (seen.hosts == 0 && !version_1_0) return malformed("the Host field is missing");
    return check_together(version_1_0, seen);
}

std::expected<void, HeadError> lint_response(std::string_view head) noexcept {
    const auto line = take_line(head);
    if (auto checked = check_status_line(line); !checked) return checked;
    Seen seen;
    if (auto checked = check_fields(head, seen); !checked) return checked;
    return check_together(line.starts_with("HTTP/1.0"), seen);
}

}  // namespace weir::http
