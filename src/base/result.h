// Result: the one error type. A code is stable and read by machines; a message is for people and says
// what, where and what to do, without secrets or prompts. Context grows outwards with within().
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace weir::base {

enum class ErrorCode {
    invalid_argument,
    not_found,
    unauthenticated,
    rate_limited,
    overloaded,
    timeout,
    cancelled,
    closed,           // the peer ended the connection
    protocol,         // the peer broke the protocol
    too_large,        // a limit of ours was reached
    unavailable,      // the environment refused: cannot listen, store unreachable
    upstream_failed,
    internal,
};

[[nodiscard]] std::string_view to_string(ErrorCode code) noexcept;

class Error {
public:
    Error(ErrorCode code, std::string message) : code_{code}, message_{std::move(message)} {}
    [[nodiscard]] ErrorCode code() const noexcept { return code_; }
    [[nodiscard]] const std::string& message() const noexcept { return message_; }
    [[nodiscard]] Error within(std::string_view where) && {
        message_.insert(0, ": ").insert(0, where);
        return std::move(*this);
    }

private:
    ErrorCode code_;
    std::string message_;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
    return std::unexpected{Error{code, std::move(message)}};
}

}  // namespace weir::base
