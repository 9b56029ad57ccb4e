#include "http/head_parser.h"

#include "http/ascii.h"

#include <boost/beast/http/basic_parser.hpp>

#include <algorithm>
#include <charconv>

namespace weir::http {
namespace {

namespace beast_http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

std::string_view to_std(string_view text) noexcept { return {text.data(), text.size()}; }

std::unexpected<HeadError> malformed(std::string_view message) noexcept {
    return std::unexpected{HeadError{.fault = Fault::malformed, .message = message}};
}

// Beast's parser with our collector behind it. Bodies never reach it: it is given exactly one head.
template <bool is_request>
class Collector final : public beast_http::basic_parser<is_request> {
public:
    explicit Collector(FieldTable& fields) : fields_{fields} {}
    std::string_view method;
    std::string_view target;
    int version = 0;
    int status = 0;

private:
    void on_request_impl(beast_http::verb, string_view given_method, string_view given_target, int given_version,
                         error_code&) override {
        method = to_std(given_method);
        target = to_std(given_target);
        version = given_version;
    }
    void on_response_impl(int given_status, string_view, int given_version, error_code&) override {
        status = given_status;
        version = given_version;
    }
    void on_field_impl(beast_http::field, string_view name, string_view value, error_code&) override {
        fields_.add({.name = to_std(name), .value = to_std(value)});
    }
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(string_view, error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, string_view, error_code&) override { return 0; }
    void on_finish_impl(error_code&) override {}

    FieldTable& fields_;
};

// True when the parser took the head whole.
template <bool is_request>
bool run(Collector<is_request>& parser, std::string_view bytes) {
    parser.header_limit(static_cast<std::uint32_t>(bytes.size()));
    parser.body_limit(boost::none);
    error_code error;
    const auto taken = parser.put(boost::asio::const_buffer{bytes.data(), bytes.size()}, error);
    return !error && taken == bytes.size() && parser.is_header_done();
}

template <bool is_request>
Framing framing_of(const Collector<is_request>& parser) {
    if (parser.is_done()) return Framing::none;
    if (parser.chunked()) return Framing::chunked;
    return parser.content_length().has_value() ? Framing::length : Framing::until_close;
}

// "/path?query", or "http://host/path?query" whose host has no meaning here.
bool split_target(RequestHead& head) {
    auto rest = head.target;
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!equals_ignoring_case(rest.substr(0, scheme.size()), scheme)) continue;
        rest.remove_prefix(scheme.size());
        const auto authority_end = rest.find_first_of("/?");
        const auto authority = rest.substr(0, authority_end);
        if (authority.empty() || !std::ranges::all_of(authority, is_host_char)) return false;
        rest.remove_prefix(authority.size());
        if (!rest.starts_with('/')) return false;
        break;
    }
    if (!rest.starts_with('/')) return false;
    const auto question = rest.find('?');
    head.path = rest.substr(0, question);
    if (question != std::string_view::npos) head.query = rest.substr(question + 1);
    return true;
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
    if (auto checked = lint_request(bytes); !checked) return std::unexpected{checked.error()};
    RequestHead head;
    Collector<true> parser{head.fields};
    if (!run(parser, bytes)) return malformed("the request head cannot be parsed");
    head.method = parser.method;
    head.target = parser.target;
    if (!split_target(head)) return malformed("the request target is not a path");
    head.minor_version = parser.version - 10;
    head.framing = framing_of(parser);
    head.content_length = parser.content_length().value_or(0);
    head.keep_alive = parser.keep_alive();
    for (const Field& field : head.fields.all()) {
        if (head.minor_version == 0 || !equals_ignoring_case(field.name, "expect")) continue;
        if (!equals_ignoring_case(field.value, "100-continue")) return malformed("Expect is not 100-continue");
        head.expect_continue = true;
    }
    return head;
}

std::expected<ResponseHead, HeadError> parse_response_head(std::string_view bytes, bool to_head_request) {
    if (auto checked = lint_response(bytes); !checked) return std::unexpected{checked.error()};
    ResponseHead head;
    Collector<false> parser{head.fields};
    parser.skip(to_head_request);
    if (!run(parser, bytes)) return malformed("the response head cannot be parsed");
    head.status = parser.status;
    head.minor_version = parser.version - 10;
    head.framing = framing_of(parser);
    head.content_length = parser.content_length().value_or(0);
    head.keep_alive = parser.keep_alive();
    if (const auto keep_alive = head.fields.find("keep-alive")) {
        head.keep_alive_timeout_s = number_after(*keep_alive, "timeout=");
        head.keep_alive_max = number_after(*keep_alive, "max=");
    }
    return head;
}

}  // namespace weir::http
