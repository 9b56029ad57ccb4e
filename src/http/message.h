// Message heads: what the codec hands to people who handle requests and responses. Sans-I/O.
// Names are compared without case; values have no surrounding blanks. Views live as long as the owning head.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::http {

struct Field {
    std::string_view name;
    std::string_view value;
};

// A head that owns its bytes. Copying is not needed; moving keeps the views valid.
class FieldTable {
public:
    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;  // the first
    [[nodiscard]] std::size_t count(std::string_view name) const noexcept;
    [[nodiscard]] std::span<const Field> all() const noexcept { return fields_; }
    void add(Field field) {
        if (fields_.empty()) fields_.reserve(16);  // most heads have fewer
        fields_.push_back(field);
        sizes_ |= size_bit(field.name);
    }
    void clear() noexcept { *this = FieldTable{}; }

private:
    // Most names that are asked for are not there, and most of those have a size that no other name has.
    [[nodiscard]] static std::uint64_t size_bit(std::string_view name) noexcept {
        return std::uint64_t{1} << (name.size() % 64);
    }
    [[nodiscard]] bool may_hold(std::string_view name) const noexcept { return (sizes_ & size_bit(name)) != 0; }

    std::vector<Field> fields_;
    std::uint64_t sizes_ = 0;  // bits, of the names' sizes
};

enum class Framing : std::uint8_t { none, length, chunked, until_close };

struct RequestHead {
    std::string_view method;   // as sent: "POST"
    std::string_view target;   // as sent: "/v1/models?beta=true"
    std::string_view path;     // "/v1/models"
    std::string_view query;    // "beta=true", without '?'
    int minor_version = 1;     // HTTP/1.x
    FieldTable fields;
    Framing framing = Framing::none;
    std::uint64_t content_length = 0;
    bool keep_alive = true;
    bool expect_continue = false;
};

struct ResponseHead {
    int status = 0;
    int minor_version = 1;
    FieldTable fields;
    Framing framing = Framing::none;
    std::uint64_t content_length = 0;
    bool keep_alive = true;
    std::optional<int> keep_alive_timeout_s;  // from `Keep-Alive: timeout=5, max=100`
    std::optional<int> keep_alive_max;
};

// What is wrong with a request message; decides the status of the refusal.
enum class Fault : std::uint8_t {
    malformed,         // 400 invalid_http: bad syntax, ambiguous framing, bare CR or LF, NUL, obs-fold ...
    head_too_large,    // 431
    body_too_large,    // 413
    slow,              // 408: head or body did not come in time
    client_closed,  // the client went away (or finished sending) before the message was whole: nobody to answer, or 400
    unsupported_version,  // not HTTP/1.x: answered as 400 invalid_http
};

}  // namespace weir::http
