#include "http/head_parser.h"

#include "http/ascii.h"

#include <boost/beast/http/basic_parser.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace weir::http {
namespace {

namespace beast_http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

std::unexpected<HeadError> malformed(std::string_view message) noexcept {
    return std::unexpected{HeadError{.fault = Fault::malformed, .message = message}};
}

// Beast's parser, asked only for what it concludes. Bodies never reach it: it is given exactly one head.
template <bool is_request>
class FramingParser final : public beast_http::basic_parser<is_request> {
    void on_request_impl(beast_http::verb, string_view, string_view, int, error_code&) override {}
    void on_response_impl(int, string_view, int, error_code&) override {}
    void on_field_impl(beast_http::field, string_view, string_view, error_code&) override {}
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(string_view, error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, string_view, error_code&) override { return 0; }
    void on_finish_impl(error_code&) override {}
};

// What Beast is given: a start line that stands for the real one, and the fields that it draws conclusions from.
// The lint has read everything else, so that nothing is read twice.
class FramingHead {
public:
    explicit FramingHead(std::string_view start_line) noexcept {
        append(start_line);
        append("\r\n");
    }
    void add_deciding(const FieldTable& fields) noexcept {
        for (const Field& field : fields.all()) {
            if (!decides_framing(field.name)) continue;
            append(field.name);
            append(":");
            append(field.value);
            append("\r\n");
        }
        append("\r\n");
    }
    [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size_}; }
    [[nodiscard]] bool fits() const noexcept { return fits_; }

private:
    static bool decides_framing(std::string_view name) noexcept {
        switch (name.size()) {
            case 10: return equals_ignoring_case(name, "connection");
            case 14: return equals_ignoring_case(name, "content-length");
            case 17: return equals_ignoring_case(name, "transfer-encoding");
            default: return false;
        }
    }
    void append(std::string_view text) noexcept {
        fits_ = fits_ && text.size() <= text_.size() - size_;
        if (fits_) size_ += text.copy(text_.data() + size_, text.size());
    }

    std::array<char, 512> text_;  // only a Connection field without sense is longer
    std::size_t size_ = 0;
    bool fits_ = true;
};

// True when the parser took the head whole.
template <bool is_request>
bool run(FramingParser<is_request>& parser, FramingHead head, const FieldTable& fields) {
    head.add_deciding(fields);
    const auto text = head.text();
    parser.header_limit(static_cast<std::uint32_t>(text.size()));
    parser.body_limit(boost::none);
    error_code error;
    const auto taken = parser.put(boost::asio::const_buffer{text.data(), text.size()}, error);
    return head.fits() && !error && taken == text.size() && parser.is_header_done();
}

template <bool is_request>
Framing framing_of(const FramingParser<is_request>& parser) {
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
    RequestHead head;
    if (auto checked = lint_request(bytes, head); !checked) return std::unexpected{checked.error()};
    FramingParser<true> parser;
    const FramingHead start{head.minor_version == 0 ? "GET / HTTP/1.0" : "GET / HTTP/1.1"};
    if (!run(parser, start, head.fields)) return malformed("the Connection field of the request is malformed");
    if (!split_target(head)) return malformed("the request target is not a path");
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
    ResponseHead head;
    if (auto checked = lint_response(bytes, head); !checked) return std::unexpected{checked.error()};
    FramingParser<false> parser;
    parser.skip(to_head_request);
    const FramingHead start{bytes.substr(0, std::string_view{"HTTP/1.1 200 "}.size())};
    if (!run(parser, start, head.fields)) return malformed("the Connection field of the response is malformed");
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
