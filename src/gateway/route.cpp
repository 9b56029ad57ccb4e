#include "gateway/route.h"

#include "base/json_writer.h"
#include "base/percent.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::gateway {

namespace {

constexpr std::string_view models_path = "/v1/models";
// The way back belongs to tokenize (contract.md section 3).
constexpr std::string_view detokenize_path = "/detokenize";

// The endpoints whose request path this version walks; the others of the contract are refused by name.
bool is_served(model::Endpoint endpoint) {
    switch (endpoint) {
        case model::Endpoint::chat_completions:
        case model::Endpoint::completions:
        case model::Endpoint::embeddings:
        case model::Endpoint::tokenize: return true;
        case model::Endpoint::responses:
        case model::Endpoint::messages:
        case model::Endpoint::rerank:
        case model::Endpoint::score: return false;
    }
    return false;
}

std::unexpected<Refusal> wrong_method(std::string_view method, std::string allow) {
    return std::unexpected{
        Refusal{.reason = model::Reason::method_not_allowed,
                .message = fmt::format("{} is not allowed here; use {}.", method.substr(0, 16), allow),
                .param = "",
                .status = 0,
                .code = "",
                .type = "",
                .retry_after = std::nullopt,
                .allow = std::move(allow)}};
}

void append_card(base::JsonWriter& json, const ModelCard& card) {
    json.begin_object().member("id", card.id).member("object", "model").member("created", 0).member("owned_by", "weir");
    if (card.max_model_len) json.member("max_model_len", *card.max_model_len);
    json.end_object();
}

}  // namespace

std::expected<Operation, Refusal> route(const http::RequestHead& head) {
    const auto path = head.path;
    if (path == models_path || (path.starts_with(models_path) && path.substr(models_path.size()).starts_with('/') &&
                                path.size() > models_path.size() + 1)) {
        if (head.method != "GET" && head.method != "HEAD") return wrong_method(head.method, "GET, HEAD");
        if (path == models_path) return ListModels{};
        return ShowModel{base::percent_decoded(path.substr(models_path.size() + 1))};
    }
    for (const auto endpoint : model::all_endpoints) {
        if (model::path_of(endpoint) != path) continue;
        if (head.method != "POST") return wrong_method(head.method, "POST");
        if (is_served(endpoint)) return Generate{.endpoint = endpoint, .path = model::path_of(endpoint)};
        return std::unexpected{Refusal{.reason = model::Reason::endpoint_not_supported,
                                       .message = fmt::format("This gateway does not serve {} yet.", path)}};
    }
    if (path == detokenize_path) {
        if (head.method != "POST") return wrong_method(head.method, "POST");
        return Generate{.endpoint = model::Endpoint::tokenize, .path = detokenize_path};
    }
    return std::unexpected{
        Refusal{.reason = model::Reason::endpoint_not_supported,
                .message = "There is no such endpoint here; see POST /v1/chat/completions, /v1/completions, "
                           "/v1/embeddings, /tokenize, /detokenize and GET /v1/models."}};
}

std::string model_json(const ModelCard& card) {
    base::JsonWriter json;
    append_card(json, card);
    return std::move(json).take();
}

std::string model_list_json(const std::vector<ModelCard>& cards) {
    base::JsonWriter json;
    json.begin_object().member("object", "list").key("data").begin_array();
    for (const auto& card : cards)
        append_card(json, card);
    json.end_array().end_object();
    return std::move(json).take();
}

}  // namespace weir::gateway
