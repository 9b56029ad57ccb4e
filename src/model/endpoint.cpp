#include "model/endpoint.h"

namespace weir::model {

std::string_view name_of(Endpoint endpoint) noexcept {
    switch (endpoint) {
        case Endpoint::chat_completions: return "chat.completions";
        case Endpoint::completions: return "completions";
        case Endpoint::responses: return "responses";
        case Endpoint::messages: return "messages";
        case Endpoint::embeddings: return "embeddings";
        case Endpoint::rerank: return "rerank";
        case Endpoint::score: return "score";
        case Endpoint::tokenize: return "tokenize";
    }
    return "other";
}

std::string_view path_of(Endpoint endpoint) noexcept {
    switch (endpoint) {
        case Endpoint::chat_completions: return "/v1/chat/completions";
        case Endpoint::completions: return "/v1/completions";
        case Endpoint::responses: return "/v1/responses";
        case Endpoint::messages: return "/v1/messages";
        case Endpoint::embeddings: return "/v1/embeddings";
        case Endpoint::rerank: return "/v1/rerank";
        case Endpoint::score: return "/v1/score";
        case Endpoint::tokenize: return "/tokenize";
    }
    return "";
}

std::optional<Endpoint> endpoint_from_name(std::string_view name) noexcept {
    for (const Endpoint endpoint : all_endpoints)
        if (name_of(endpoint) == name) return endpoint;
    return std::nullopt;
}

}  // namespace weir::model
