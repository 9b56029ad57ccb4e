// The strict byte lint of a message head: everything two parsers could read differently is refused here, before
// the framing parser sees it. Input: one head whose lines end in CRLF, the blank line included. Pure.
#pragma once

#include "http/message.h"

#include <expected>
#include <string_view>

namespace weir::http {

// What is wrong, in words that may be shown to the peer (they repeat none of its bytes).
struct HeadError {
    Fault fault = Fault::malformed;
    std::string_view message;
};

inline constexpr std::size_t max_fields = 100;

[[nodiscard]] std::expected<void, HeadError> lint_request(std::string_view head) noexcept;
[[nodiscard]] std::expected<void, HeadError> lint_response(std::string_view head) noexcept;

}  // namespace weir::http
