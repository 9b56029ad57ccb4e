#include "admin/api.h"

#include "base/json_writer.h"
#include "base/percent.h"

namespace weir::admin {

std::string error_body(const ApiError& error) {
    std::string_view type = "invalid_request_error";
    if (error.status == 403) type = "permission_error";
    if (error.status >= 500) type = "server_error";
    base::JsonWriter json;
    json.begin_object().key("error").begin_object();
    json.member("message", std::string_view{error.message}).member("type", type).key("param");
    if (error.param.empty())
        json.null();
    else
        json.string(error.param);
    json.member("code", error.code).end_object().end_object();
    return std::move(json).take();
}

ApiReply reply_with(const ApiError& error) {
    return {.status = error.status,
            .body = error_body(error),
            .reason = error.code,
            .retry_after_s = error.status == 503 ? std::optional{1} : std::nullopt};
}

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query) {
    std::vector<std::pair<std::string, std::string>> parameters;
    while (!query.empty()) {
        const auto end = query.find('&');
        const auto part = query.substr(0, end);
        query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
        if (part.empty()) continue;
        const auto equals = part.find('=');
        parameters.emplace_back(
            base::percent_decoded(part.substr(0, equals)),
            equals == std::string_view::npos ? std::string{} : base::percent_decoded(part.substr(equals + 1)));
    }
    return parameters;
}

}  // namespace weir::admin
