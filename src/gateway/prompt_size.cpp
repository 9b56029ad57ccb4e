#include "gateway/prompt_size.h"

#include <algorithm>

namespace weir::gateway {

namespace {

namespace json = simdjson::ondemand;
using simdjson::error_code;
using Type = json::json_type;

// One array, by the kinds of its elements.
struct Elements {
    std::uint64_t ids = 0;
    std::uint64_t bytes = 0;          // of ids and strings
    std::uint64_t strings = 0;
    std::uint64_t longest_string = 0;
    std::uint64_t arrays = 0;
    std::uint64_t objects = 0;
};

error_code measure_array(json::value value, int depth, PromptSize& size);

error_code measure_element(json::value element, int depth, Elements& seen, PromptSize& size) {
    Type type{};
    if (const auto error = element.type().get(type)) return error;
    switch (type) {
        case Type::number:
            ++seen.ids;
            seen.bytes += element.raw_json_token().size();
            return simdjson::SUCCESS;
        case Type::string: {
            const std::uint64_t bytes = element.raw_json_token().size();
            ++seen.strings;
            seen.bytes += bytes;
            seen.longest_string = std::max(seen.longest_string, bytes);
            return simdjson::SUCCESS;
        }
        case Type::array:
            if (depth > 0) return simdjson::INCORRECT_TYPE;
            ++seen.arrays;
            return measure_array(element, depth + 1, size);
        case Type::object: ++seen.objects; return simdjson::SUCCESS;
        default: return simdjson::INCORRECT_TYPE;
    }
}

// At the root several strings are several prompts; strings among ids are parts of one, as llama.cpp takes them.
error_code measure_array(json::value value, int depth, PromptSize& size) {
    json::array array;
    if (const auto error = value.get_array().get(array)) return error;
    Elements seen;
    for (auto found : array) {
        json::value element;
        if (const auto error = found.get(element)) return error;
        if (const auto error = measure_element(element, depth, seen, size)) return error;
    }
    size.media = size.media || seen.objects > 0;
    if (seen.ids > 0 && seen.strings == 0) size.token_ids = std::max(size.token_ids, seen.ids);
    if (seen.strings > 0) {
        const bool one_prompt = seen.ids > 0 || depth > 0;
        size.text_bytes = std::max(size.text_bytes, one_prompt ? seen.bytes : seen.longest_string);
    }
    if (depth == 0) size.prompts = (seen.ids > 0 ? 1 : seen.strings) + seen.arrays + seen.objects;
    return simdjson::SUCCESS;
}

}  // namespace

error_code measure_prompt(json::value value, PromptSize& size) {
    Type type{};
    if (const auto error = value.type().get(type)) return error;
    if (type == Type::array) return measure_array(value, 0, size);
    if (type != Type::string) return simdjson::INCORRECT_TYPE;
    size.prompts = 1;
    size.text_bytes = value.raw_json_token().size();
    return simdjson::SUCCESS;
}

}  // namespace weir::gateway
