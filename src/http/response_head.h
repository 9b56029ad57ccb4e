// The text of a response head. Framing fields are ours alone: a handler's fields of those names, and fields that
// could split the head (CR, LF, NUL, a name that is no token), are left out. Pure, but for HttpDate's clock.
#pragma once

#include "base/time.h"
#include "http/message.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weir::http {

struct ResponseFrame {
    int status = 200;
    int minor_version = 1;
    Framing framing = Framing::none;   // none: no length is told (1xx, 204, 304)
    std::uint64_t content_length = 0;  // with Framing::length
    bool keep_alive = true;
    std::string_view date = {};
};

[[nodiscard]] std::string make_response_head(const ResponseFrame& frame, std::span<const Field> fields);

// "Not Found"; "Unknown" for codes that have no name here.
[[nodiscard]] std::string_view reason_phrase(int status) noexcept;

[[nodiscard]] constexpr bool never_has_body(int status) noexcept {
    return status / 100 == 1 || status == 204 || status == 304;
}

// "Mon, 30 Nov 2026 06:04:40 GMT", made once a second.
class HttpDate {
public:
    [[nodiscard]] std::string_view at(base::Instant now);

private:
    std::string text_;
    base::Instant made_at_{};
};

[[nodiscard]] std::string http_date(base::WallTime time);

}  // namespace weir::http
