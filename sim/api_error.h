// ApiError: a refusal in the shape of vLLM's error body. Pure values.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace weir::sim {

struct ApiError {
    int status = 500;
    std::string type;
    std::string message;
    std::string param;  // "" = null in the body
};

template <class T>
using Outcome = std::expected<T, ApiError>;

// 400 of the engine's own checks.
[[nodiscard]] ApiError bad_request(std::string message, std::string param = {});
// 400 of the schema check in front of them; its type is the HTTP phrase.
[[nodiscard]] ApiError invalid_body(std::string message);
[[nodiscard]] ApiError unknown_model(std::string_view model);
// 404, 405 and the like, with the HTTP phrase as message and type.
[[nodiscard]] ApiError http_error(int status);

// {"error":{"message","type","param","code"}}
[[nodiscard]] std::string to_json(const ApiError& error);

}  // namespace weir::sim
