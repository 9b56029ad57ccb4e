#include "sim/api_error.h"

#include "base/json_writer.h"

#include <fmt/format.h>

#include <utility>

namespace weir::sim {
namespace {

std::string_view phrase(int status) {
    switch (status) {
        case 400: return "Bad Request";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 408: return "Request Timeout";
        case 413: return "Request Entity Too Large";
        case 431: return "Request Header Fields Too Large";
        case 503: return "Service Unavailable";
        default: return "Internal Server Error";
    }
}

}  // namespace

ApiError bad_request(std::string message, std::string param) {
    return {.status = 400, .type = "BadRequestError", .message = std::move(message), .param = std::move(param)};
}

ApiError invalid_body(std::string message) {
    return {.status = 400, .type = "Bad Request", .message = std::move(message), .param = {}};
}

ApiError unknown_model(std::string_view model) {
    return {.status = 404,
            .type = "NotFoundError",
            .message = fmt::format("The model `{}` does not exist.", model),
            .param = "model"};
}

ApiError http_error(int status) {
    return {.status = status, .type = std::string{phrase(status)}, .message = std::string{phrase(status)}, .param = {}};
}

std::string to_json(const ApiError& error) {
    base::JsonWriter json;
    json.begin_object().key("error").begin_object();
    json.member("message", error.message).member("type", error.type);
    json.key("param");
    if (error.param.empty())
        json.null();
    else
        json.string(error.param);
    json.member("code", error.status);
    json.end_object().end_object();
    return std::move(json).take();
}

}  // namespace weir::sim
