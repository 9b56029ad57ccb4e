// AdminClient: one call of a running gateway's admin API, for the commands that act on it. Blocks until it is answered.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace weir::cli {

struct AdminCall {
    std::string_view method;  // "GET", "POST"
    std::string target;  // "/admin/v1/explain?key=one"
    std::string_view body{};  // JSON; sent with everything but GET
};

struct AdminReply {
    int status = 0;
    std::string body;
    // Of the error object; "" when it is none.
    std::string error_code;
    std::string error_message;
    std::string error_param;
};

// `url` is "http://HOST:PORT"; `token` may be "". Errors: invalid_argument (the URL or the token makes no sense),
// unavailable (no such host, nobody listens), timeout, protocol (it does not speak HTTP), closed, too_large.
[[nodiscard]] base::Result<AdminReply> call_admin(const std::string& url, const AdminCall& call,
                                                  const std::string& token);

// What a command says, and ends with, when the call itself failed; and what it says of an answer that it did not
// expect.
[[nodiscard]] std::string why_not_called(const base::Error& error);
[[nodiscard]] int exit_code_of(const base::Error& error);
[[nodiscard]] std::string refused_call(const std::string& url, const AdminReply& reply);

inline constexpr const char* default_admin_url = "http://127.0.0.1:8081";

// WEIR_ADMIN_TOKEN; "" when it is not set.
[[nodiscard]] std::string admin_token();

}  // namespace weir::cli
