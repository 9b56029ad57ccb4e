// HeadScanner: finds where a message head ends, in bytes that arrive in pieces; looks at each byte once.
// Invariant: every line seen so far ended in CRLF; a bare LF is refused as soon as it is seen. Sans-I/O.
#pragma once

#include <cstddef>
#include <expected>
#include <string_view>

namespace weir::http {

class HeadScanner {
public:
    // `bytes`: everything from the first byte of the head on; later calls pass the same bytes and more.
    // Returns the size of the head, its blank line included, or 0 when more bytes are needed.
    // A blank line at the very start is a head of 2 bytes. Errors: what is wrong.
    [[nodiscard]] std::expected<std::size_t, std::string_view> scan(std::string_view bytes) noexcept;
    void restart() noexcept { *this = HeadScanner{}; }

private:
    std::size_t line_start_ = 0;
    std::size_t searched_ = 0;  // no LF in [line_start_, searched_)
};

}  // namespace weir::http
