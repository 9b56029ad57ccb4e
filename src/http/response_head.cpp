#include "http/response_head.h"

#include "base/text_builder.h"
#include "http/ascii.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace weir::http {
namespace {

// Those that say where a message ends, and what is made anew for each.
bool is_ours(std::string_view name) noexcept {
    const auto is = [name](std::string_view ours) { return equals_ignoring_case(name, ours); };
    switch (name.size()) {
        case 4: return is("date");
        case 7: return is("trailer");
        case 10: return is("connection") || is("keep-alive");
        case 14: return is("content-length");
        case 17: return is("transfer-encoding");
        default: return false;
    }
}

bool may_pass(const Field& field) noexcept {
    const bool well_formed =
        !field.name.empty() && count_token_chars(field.name) == field.name.size() && are_value_chars(field.value);
    return well_formed && !is_ours(field.name);
}

void add_framing(base::TextBuilder& head, const ResponseFrame& frame) {
    if (frame.framing == Framing::chunked) head.add("Transfer-Encoding: chunked\r\n");
    if (frame.framing == Framing::length) {
        head.add("Content-Length: ");
        head.add_number(frame.content_length);
        head.add("\r\n");
    }
    if (!frame.keep_alive) head.add("Connection: close\r\n");
    if (frame.keep_alive && frame.minor_version == 0) head.add("Connection: keep-alive\r\n");
}

}  // namespace

std::string make_response_head(const ResponseFrame& frame, std::span<const Field> fields) {
    std::size_t bytes = 256;
    for (const Field& field : fields)
        bytes += field.name.size() + field.value.size() + 4;
    base::TextBuilder head{bytes};
    head.add("HTTP/1.1 ");
    head.add_number(static_cast<unsigned>(frame.status));
    head.add(" ");
    head.add(reason_phrase(frame.status));
    head.add("\r\nDate: ");
    head.add(frame.date);
    head.add("\r\n");
    for (const Field& field : fields) {
        if (!may_pass(field)) continue;
        head.add(field.name);
        head.add(": ");
        head.add(field.value);
        head.add("\r\n");
    }
    add_framing(head, frame);
    head.add("\r\n");
    return std::move(head).take();
}

std::string_view reason_phrase(int status) noexcept {
    switch (status) {
        case 100: return "Continue";
        case 200: return "OK";
        case 201: return "Created";
        case 202: return "Accepted";
        case 204: return "No Content";
        case 206: return "Partial Content";
        case 301: return "Moved Permanently";
        case 302: return "Found";
        case 303: return "See Other";
        case 304: return "Not Modified";
        case 307: return "Temporary Redirect";
        case 308: return "Permanent Redirect";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 412: return "Precondition Failed";
        case 413: return "Content Too Large";
        case 415: return "Unsupported Media Type";
        case 417: return "Expectation Failed";
        case 422: return "Unprocessable Content";
        case 428: return "Precondition Required";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 501: return "Not Implemented";
        case 502: return "Bad Gateway";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        default: return "Unknown";
    }
}

std::string_view HttpDate::at(base::Instant now) {
    if (text_.empty() || now - made_at_ >= std::chrono::seconds{1}) {
        text_ = http_date(base::wall_now());
        made_at_ = now;
    }
    return text_;
}

std::string http_date(base::WallTime time) {
    using namespace std::chrono;
    constexpr std::array<std::string_view, 7> days_of_week = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array<std::string_view, 12> months_of_year = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock{floor<seconds>(time - day)};
    return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", days_of_week[weekday{day}.c_encoding()],
                       static_cast<unsigned>(date.day()), months_of_year[static_cast<unsigned>(date.month()) - 1],
                       static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
                       clock.seconds().count());
}

}  // namespace weir::http
