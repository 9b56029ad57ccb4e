#include "engine/probe.h"

#include "engine/error_body.h"
#include "engine/json_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weir::engine {

namespace {

constexpr std::size_t max_models = 256;      // more are not remembered
constexpr std::size_t max_name_bytes = 512;  // of an id, a path or a version

std::string name_at(const JsonDocument& document, std::string_view pointer) {
    auto text = document.text(pointer).value_or("");
    return text.size() <= max_name_bytes ? text : std::string{};
}

ModelCard card_at(const JsonDocument& document, std::size_t index) {
    const std::string place = fmt::format("/data/{}", index);
    ModelCard card;
    card.id = name_at(document, place + "/id");
    card.root = name_at(document, place + "/root");
    card.parent = name_at(document, place + "/parent");
    card.owned_by = name_at(document, place + "/owned_by");
    card.context_tokens = document.count(place + "/max_model_len");
    if (!card.context_tokens.has_value()) card.context_tokens = document.count(place + "/meta/n_ctx");
    return card;
}

base::Result<JsonDocument> object_in(std::string_view body, std::string_view what) {
    auto document = JsonDocument::parse(body);
    if (!document.has_value()) return base::fail(base::ErrorCode::protocol, fmt::format("{} is not JSON", what));
    if (document->kind("") != JsonKind::object)
        return base::fail(base::ErrorCode::protocol, fmt::format("{} is not an object", what));
    return std::move(*document);
}

void fill(std::string& into, const std::string& told) {
    if (!told.empty()) into = told;
}

template <class T>
void fill(std::optional<T>& into, const std::optional<T>& told) {
    if (told.has_value()) into = told;
}

}  // namespace

HealthAnswer interpret_health(int status, std::string_view body) {
    if (status >= 200 && status < 300) return HealthAnswer::healthy;
    if (status != 503) return HealthAnswer::failed;
    const EngineError error = parse_error_body(status, body);
    const bool not_yet = error.type == "unavailable_error" || error.message.find("oading") != std::string::npos ||
                         error.message.find("scaling") != std::string::npos;
    return not_yet ? HealthAnswer::loading : HealthAnswer::unhealthy;
}

base::Result<std::vector<ModelCard>> parse_models(std::string_view body) {
    const auto document = object_in(body, "the list of models");
    if (!document) return std::unexpected{document.error()};
    if (document->kind("/data") != JsonKind::array)
        return base::fail(base::ErrorCode::protocol, "the list of models has no `data`");
    std::vector<ModelCard> cards;
    const std::size_t count = std::min(document->items("/data"), max_models);
    for (std::size_t index = 0; index < count; ++index) {
        ModelCard card = card_at(*document, index);
        if (!card.id.empty()) cards.push_back(std::move(card));
    }
    return cards;
}

base::Result<Properties> parse_llamacpp_properties(std::string_view body) {
    const auto document = object_in(body, "the answer to /props");
    if (!document) return std::unexpected{document.error()};
    Properties properties;
    properties.version = name_at(*document, "/build_info");
    properties.model_path = name_at(*document, "/model_path");
    properties.speculation = name_at(*document, "/default_generation_settings/params/speculative.types");
    properties.context_tokens = document->count("/default_generation_settings/n_ctx");
    properties.slots = document->count("/total_slots");
    properties.sleeping = document->flag("/is_sleeping");
    return properties;
}

base::Result<Properties> parse_sglang_server_info(std::string_view body) {
    const auto document = object_in(body, "the answer to /server_info");
    if (!document) return std::unexpected{document.error()};
    Properties properties;
    properties.version = name_at(*document, "/version");
    properties.model_path = name_at(*document, "/model_path");
    properties.speculation = name_at(*document, "/speculative_algorithm");
    properties.context_tokens = document->count("/context_length");
    properties.slots = document->count("/max_running_requests");
    return properties;
}

base::Result<std::string> parse_version_answer(std::string_view body) {
    const auto document = object_in(body, "the answer to /version");
    if (!document) return std::unexpected{document.error()};
    auto version = name_at(*document, "/version");
    if (version.empty()) return base::fail(base::ErrorCode::protocol, "the answer to /version has no `version`");
    return version;
}

void merge(Discovery& into, const std::vector<ModelCard>& models) {
    into.model_ids.clear();
    for (const ModelCard& card : models)
        into.model_ids.push_back(card.id);
    // An adapter's card may lack what its base model's card tells.
    const auto base_model = std::ranges::find(models, std::string{}, &ModelCard::parent);
    if (base_model == models.end()) return;
    fill(into.model_path, base_model->root);
    fill(into.context_tokens, base_model->context_tokens);
}

void merge(Discovery& into, const Properties& properties) {
    fill(into.engine_version, properties.version);
    fill(into.model_path, properties.model_path);
    fill(into.speculation, properties.speculation);
    fill(into.context_tokens, properties.context_tokens);
    fill(into.slots, properties.slots);
}

}  // namespace weir::engine
