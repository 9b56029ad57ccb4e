#include "engine/json_document.h"

#include <simdjson.h>

#include <utility>

namespace weir::engine {

struct JsonDocument::State {
    simdjson::dom::parser parser;  // owns what `root` points into
    simdjson::dom::element root;

    template <class T>
    [[nodiscard]] std::optional<T> get(std::string_view pointer) const {
        T value{};
        if (root.at_pointer(pointer).get(value) != simdjson::SUCCESS) return std::nullopt;
        return value;
    }
};

JsonDocument::JsonDocument(std::unique_ptr<State> state) : state_{std::move(state)} {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

std::optional<JsonDocument> JsonDocument::parse(std::string_view text) {
    if (text.empty()) return std::nullopt;  // its pointer may be null, which the parser would hand to memcpy
    auto state = std::make_unique<State>();
    // The parser copies the text, with the padding that it needs.
    if (state->parser.parse(text.data(), text.size(), true).get(state->root) != simdjson::SUCCESS) return std::nullopt;
    return JsonDocument{std::move(state)};
}

JsonKind JsonDocument::kind(std::string_view pointer) const {
    simdjson::dom::element element;
    if (state_->root.at_pointer(pointer).get(element) != simdjson::SUCCESS) return JsonKind::absent;
    switch (element.type()) {
        case simdjson::dom::element_type::OBJECT: return JsonKind::object;
        case simdjson::dom::element_type::ARRAY: return JsonKind::array;
        case simdjson::dom::element_type::STRING: return JsonKind::string;
        case simdjson::dom::element_type::INT64:
        case simdjson::dom::element_type::UINT64:
        case simdjson::dom::element_type::DOUBLE: return JsonKind::number;
        case simdjson::dom::element_type::BOOL: return JsonKind::boolean;
        case simdjson::dom::element_type::NULL_VALUE: return JsonKind::null;
    }
    return JsonKind::absent;
}

std::optional<std::string> JsonDocument::text(std::string_view pointer) const {
    const auto view = state_->get<std::string_view>(pointer);
    return view.has_value() ? std::optional{std::string{*view}} : std::nullopt;
}

std::optional<std::uint64_t> JsonDocument::count(std::string_view pointer) const {
    return state_->get<std::uint64_t>(pointer);
}

std::optional<bool> JsonDocument::flag(std::string_view pointer) const { return state_->get<bool>(pointer); }

std::optional<std::string> JsonDocument::text_or_digits(std::string_view pointer) const {
    if (auto told = text(pointer)) return told;
    const auto number = state_->get<std::int64_t>(pointer);
    return number.has_value() ? std::optional{std::to_string(*number)} : std::nullopt;
}

std::size_t JsonDocument::items(std::string_view pointer) const {
    const auto array = state_->get<simdjson::dom::array>(pointer);
    return array.has_value() ? array->size() : 0;
}

}  // namespace weir::engine
