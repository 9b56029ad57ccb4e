// From the bytes of one message head to its parts: the strict lint reads them, the framing follows from what it found
// (RFC 9112, 6.3 and 9.3). Sans-I/O. The heads' views point into `bytes`, which must outlive them and not move.
#pragma once

#include "http/head_lint.h"
#include "http/message.h"

#include <expected>
#include <string_view>

namespace weir::http {

// `bytes`: one whole head, as HeadScanner found it.
[[nodiscard]] std::expected<RequestHead, HeadError> parse_request_head(std::string_view bytes);

// `to_head_request`: the response answers a HEAD request, so no body follows whatever its fields say.
[[nodiscard]] std::expected<ResponseHead, HeadError> parse_response_head(std::string_view bytes, bool to_head_request);

}  // namespace weir::http
