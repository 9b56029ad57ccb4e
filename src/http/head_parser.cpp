#include "http/head_parser.h"

#include "http/ascii.h"

#include <algorithm>
#include <charconv>

namespace weir::http {
namespace {

std::unexpected<HeadError> malformed(std::string_view message) noexcept {
    return std::unexpected{HeadError{.fault = Fault::malformed, .message = message}};
}

// RFC 9112, 9.3.
bool keeps_alive(int minor_version, const Meaning& meaning) noexcept {
    return minor_version == 0 ? meaning.keep_alive && !meaning.close : !meaning.close;
}

// RFC 9112, 6.3: these never have a body, whatever their fields say.
bool is_without_body(int status) noexcept { return status / 100 == 1 || status == 204 || status == 304; }

// A body of length 0 is none.
Framing framing_of(const Meaning& meaning, Framing without_fields) noexcept {
    if (meaning.chunked) return Framing::chunked;
    if (!meaning.content_length) return without_fields;
    return *meaning.content_length > 0 ? Framing::length : Framing::none;
}

bool split_path(std::string_view target, RequestHead& head) {
    if (!target.starts_with('/')) return false;
    const auto question = target.find('?');
    head.path = target.substr(0, question);
    if (question != std::string_view::npos) head.query = target.substr(question + 1);
    return true;
}

// "/path?query", or "http://host/path?query" whose host has no meaning here.
bool split_target(RequestHead& head) {
    auto rest = head.target;
    if (split_path(rest, head)) return true;
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!equals_ignoring_case(rest.substr(0, scheme.size()), scheme)) continue;
        rest.remove_prefix(scheme.size());
        const auto authority_end = rest.find_first_of("/?");
        const auto authority = rest.substr(0, authority_end);
        if (authority.empty() || count_host_chars(authority) != authority.size()) return false;
        rest.remove_prefix(authority.size());
        return split_path(rest, head);
    }
    return false;
}

std::optional<int> number_after(std::string_view text, std::string_view name) {
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find(',', at), text.size());
        const auto item = trim_blanks(text.substr(at, end - at));
        at = end + 1;
        if (item.size() <= name.size() || !equals_ignoring_case(item.substr(0, name.size()), name)) continue;
        int number = 0;
        const auto [stop, error] = std::from_chars(item.data() + name.size(), item.data() + item.size(), number);
        if (error == std::errc{} && stop == item.data() + item.size() && number >= 0) return number;
    }
    return std::nullopt;
}

}  // namespace

std::expected<RequestHead, HeadError> parse_request_head(std::string_view bytes) {
    RequestHead head;
    const auto meaning = lint_request(bytes, head);
    if (!meaning) return std::unexpected{meaning.error()};
    if (!split_target(head)) return malformed("the request target is not a path");
    head.framing = framing_of(*meaning, Framing::none);
    head.content_length = meaning->content_length.value_or(0);
    head.keep_alive = keeps_alive(head.minor_version, *meaning);
    if (head.minor_version == 0 || !head.fields.find("expect")) return head;
    for (const Field& field : head.fields.all()) {
        if (!equals_ignoring_case(field.name, "expect")) continue;
        if (!equals_ignoring_case(field.value, "100-continue")) return malformed("Expect is not 100-continue");
        head.expect_continue = true;
    }
    return head;
}

std::expected<ResponseHead, HeadError> parse_response_head(std::string_view bytes, bool to_head_request) {
    ResponseHead head;
    const auto meaning = lint_response(bytes, head);
    if (!meaning) return std::unexpected{meaning.error()};
    const bool without_body = to_head_request || is_without_body(head.status);
    head.framing = without_body ? Framing::none : framing_of(*meaning, Framing::until_close);
    head.content_length = meaning->content_length.value_or(0);
    head.keep_alive = keeps_alive(head.minor_version, *meaning) && head.framing != Framing::until_close;
    if (const auto keep_alive = head.fields.find("keep-alive")) {
        head.keep_alive_timeout_s = number_after(*keep_alive, "timeout=");
        head.keep_alive_max = number_after(*keep_alive, "max=");
    }
    return head;
}

}  // namespace weir::http
