#include "http/head_scanner.h"

#include "http/ascii.h"

namespace weir::http {

std::expected<std::size_t, std::string_view> HeadScanner::scan(std::string_view bytes) noexcept {
    // A peer that speaks another protocol (TLS on the plain port) is told at once, not after a timeout.
    if (!bytes.empty() && bytes.front() != '\r' && !is_token_char(bytes.front())) {
        return std::unexpected{std::string_view{"the message does not start with a method or version"}};
    }
    while (true) {
        const auto line_feed = bytes.find('\n', searched_);
        if (line_feed == std::string_view::npos) {
            searched_ = bytes.size();
            return std::size_t{0};
        }
        if (line_feed == line_start_ || bytes[line_feed - 1] != '\r') {
            return std::unexpected{std::string_view{"a line of the head does not end in CRLF"}};
        }
        const bool blank = line_feed == line_start_ + 1;
        line_start_ = searched_ = line_feed + 1;
        if (blank) return line_start_;
    }
}

}  // namespace weir::http
