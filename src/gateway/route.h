// Route: which operation a method and path name. Pure. Unknown paths are endpoint_not_supported, known paths with
// another method method_not_allowed. Source: contract.md section 3.
#pragma once

#include "gateway/refusal.h"
#include "http/message.h"
#include "model/endpoint.h"

#include <expected>
#include <string>
#include <variant>

namespace weir::gateway {

struct ListModels {};
struct ShowModel {
    std::string id;
};
// A request that an engine answers. `path` is also the engine's: every family that serves an endpoint serves it there.
struct Generate {
    model::Endpoint endpoint{};
    std::string_view path;  // static storage
};
using Operation = std::variant<ListModels, ShowModel, Generate>;

[[nodiscard]] std::expected<Operation, Refusal> route(const http::RequestHead& head);

// GET /v1/models answers. `max_model_len` is the alias's context, where it states one.
struct ModelCard {
    std::string_view id;
    std::optional<std::uint64_t> max_model_len;
};
[[nodiscard]] std::string model_json(const ModelCard& card);
[[nodiscard]] std::string model_list_json(const std::vector<ModelCard>& cards);

}  // namespace weir::gateway
