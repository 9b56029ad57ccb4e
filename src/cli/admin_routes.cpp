#include "cli/admin_routes.h"

#include "base/json_writer.h"
#include "base/text.h"
#include "gateway/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace weir::cli {

namespace {

using admin::ApiReply;
using admin::ApiRequest;

ApiReply invalid(std::string param, std::string message) {
    return admin::reply_with(
        {.status = 400, .code = "invalid_request", .message = std::move(message), .param = std::move(param)});
}

// `endpoint` and `key` come as parameters, so that the body is the request's own, byte for byte.
io::Task<ApiReply> explain(AdminSources sources, ApiRequest request) {
    constexpr std::array<std::string_view, 2> known{"endpoint", "key"};
    gateway::Question question{.body = std::move(request.body)};
    for (auto& [name, value] : request.query) {
        if (name == "key") {
            question.key = std::move(value);
        } else if (name == "endpoint") {
            const auto endpoint = model::endpoint_from_name(value);
            if (!endpoint) co_return invalid("endpoint", fmt::format("There is no endpoint {}.", base::quoted(value)));
            question.endpoint = *endpoint;
        } else {
            co_return invalid(name, fmt::format("There is no parameter {}{}; use {}.", base::quoted(name),
                                                base::suggestion(name, known), base::join_or(known)));
        }
    }
    const auto explanation = gateway::explain(sources.tables(), std::move(question),
                                              {.now = base::wall_now(), .live = true, .draining = sources.draining()});
    if (!explanation) co_return invalid("key", explanation.error().message());
    co_return ApiReply{.body = gateway::to_json(*explanation)};
}

io::Task<ApiReply> show_config(AdminSources sources) {
    const auto status = sources.config_status();
    base::JsonWriter json;
    json.begin_object().member("version", std::string_view{status.version});
    json.member("file", std::string_view{status.file});
    json.member("loaded_at", std::string_view{base::to_rfc3339(status.loaded_at)});
    json.key("last_reload").begin_object().member("successful", status.last_reload_successful);
    json.member("at", std::string_view{base::to_rfc3339(status.last_reload_at)}).key("problems");
    if (status.last_reload_problems.empty())
        json.null();
    else
        json.string(status.last_reload_problems);
    json.end_object().end_object();
    co_return ApiReply{.body = std::move(json).take()};
}

io::Task<ApiReply> show_request(AdminSources sources, ApiRequest request) {
    auto record = sources.record(request.id);
    if (!record)
        co_return admin::reply_with(
            {.status = 503, .code = "store_unavailable", .message = std::string{record.error().message()}});
    if (!*record)
        co_return admin::reply_with({.status = 404,
                                     .code = "not_found",
                                     .message = "The store has no record of this request. It gets one a moment after "
                                                "the request has ended; the id is what x-request-id says.",
                                     .param = "id"});
    co_return ApiReply{.body = **std::move(record)};
}

}  // namespace

std::vector<admin::Route> admin_routes(AdminSources sources) {
    return {
        {.method = "POST",
         .path = "/admin/v1/explain",
         .needed = config::Role::viewer,
         .act = [sources](ApiRequest request) { return explain(sources, std::move(request)); }},
        {.method = "GET",
         .path = "/admin/v1/config",
         .needed = config::Role::viewer,
         .act = [sources](ApiRequest) { return show_config(sources); }},
        {.method = "GET",
         .path = "/admin/v1/requests/{id}",
         .needed = config::Role::viewer,
         .act = [sources](ApiRequest request) { return show_request(sources, std::move(request)); }},
    };
}

}  // namespace weir::cli
