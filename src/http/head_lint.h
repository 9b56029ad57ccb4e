// The strict byte lint of a message head: everything two parsers could read differently is refused here, before
// the framing parser sees it. Input: one head as HeadScanner found it: lines end in CRLF, the last is blank. Pure.
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

// Fill what needs no interpretation: method, target, version or status, and the fields.
[[nodiscard]] std::expected<void, HeadError> lint_request(std::string_view bytes, RequestHead& head);
[[nodiscard]] std::expected<void, HeadError> lint_response(std::string_view bytes, ResponseHead& head);

}  // namespace weir::http
