// The strict byte lint of a message head: everything two parsers could read differently is refused here, so that
// what is left has one meaning. Input: one head as HeadScanner found it: lines end in CRLF, the last is blank. Pure.
#pragma once

#include "http/message.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

namespace weir::http {

// What is wrong, in words that may be shown to the peer (they repeat none of its bytes).
struct HeadError {
    Fault fault = Fault::malformed;
    std::string_view message;
};

inline constexpr std::size_t max_fields = 100;

// What the fields say of the message's end and of what may follow it.
struct Meaning {
    std::optional<std::uint64_t> content_length;
    bool chunked = false;
    bool close = false;       // a token of Connection
    bool keep_alive = false;  // the same
};

// Fill what needs no interpretation: method, target, version or status, and the fields.
[[nodiscard]] std::expected<Meaning, HeadError> lint_request(std::string_view bytes, RequestHead& head);
[[nodiscard]] std::expected<Meaning, HeadError> lint_response(std::string_view bytes, ResponseHead& head);

}  // namespace weir::http
