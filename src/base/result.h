// Result: the one error type. A code is stable and read by machines; a message is for people and says
// what, where and what to do, without secrets or prompts. Context grows outwards with within().
#pragma once

#include <expected>
#include <memory>
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

// Small, because every coroutine that waits has room for a few: the message lies elsewhere, and errors are rare.
class Error {
public:
    Error(ErrorCode code, std::string message)
        : message_{message.empty() ? nullptr : std::make_unique<std::string>(std::move(message))}, code_{code} {}
    Error(const Error& other) : Error{other.code_, other.message()} {}
    Error(Error&&) noexcept = default;
    Error& operator=(const Error& other) { return *this = Error{other}; }
    Error& operator=(Error&&) noexcept = default;
    ~Error() = default;

    [[nodiscard]] ErrorCode code() const noexcept { return code_; }
    [[nodiscard]] const std::string& message() const noexcept {
        static const std::string none;
        return message_ ? *message_ : none;
    }
    [[nodiscard]] Error within(std::string_view where) && {
        if (!message_) message_ = std::make_unique<std::string>();
        message_->insert(0, ": ").insert(0, where);
        return std::move(*this);
    }

private:
    std::unique_ptr<std::string> message_;
    ErrorCode code_;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
    return std::unexpected{Error{code, std::move(message)}};
}

}  // namespace weir::base
