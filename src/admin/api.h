// The admin API's building blocks: a route says which method and path it answers, what role it needs and what it does.
// Who owns the state that a route shows or changes makes the route; the endpoint (admin_endpoint.h) does the rest.
#pragma once

#include "admin/access.h"
#include "config/server.h"
#include "io/task.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::admin {

struct ApiRequest {
    Principal principal;
    std::string id{};  // what stands for "{id}" in the route's path, as sent; never empty there, without '/'
    std::vector<std::pair<std::string, std::string>> query;  // decoded, as they were given
    std::string body;                                        // whole, at most the endpoint's limit
};

struct ApiError {
    int status = 400;
    std::string_view code;  // static storage
    std::string message;    // what, and what to do; no secrets
    std::string param{};    // the parameter or field at fault; "" = null
};

struct ApiReply {
    int status = 200;
    std::string body;                        // JSON
    std::string_view reason{};               // the code of an error; "" = none
    std::string allow{};                     // 405 only
    std::optional<int> retry_after_s{};
};

// The OpenAI error object. `type` follows from the status.
[[nodiscard]] std::string error_body(const ApiError& error);
[[nodiscard]] ApiReply reply_with(const ApiError& error);

struct Route {
    std::string_view method;  // "GET" (answers HEAD too), "POST"
    std::string_view path;    // "/admin/v1/explain"; its last segment may be "{id}"
    config::Role needed = config::Role::viewer;
    // On the endpoint's reactor; must not block it. The function outlives its tasks.
    std::function<io::Task<ApiReply>(ApiRequest)> act;
};

// "a=1&b=%2F"; a parameter without "=" has the value "".
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query);

}  // namespace weir::admin
