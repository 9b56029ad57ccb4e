#include "gateway/inspect.h"

#include "gateway/inspected_key.h"
#include "gateway/prompt_size.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <limits>

namespace weir::gateway {

namespace {

namespace json = simdjson::ondemand;
using model::Feature;
using model::Reason;
using Key = InspectedKey;

std::unexpected<InspectError> invalid_json(std::string message) {
    return std::unexpected{InspectError{Reason::invalid_json, std::move(message), ""}};
}

std::unexpected<InspectError> wrong_type(std::string_view name, std::string_view expected) {
    return std::unexpected{
        InspectError{Reason::invalid_request, fmt::format("'{}' must be {}.", name, expected), std::string{name}}};
}

using Step = std::expected<void, InspectError>;

std::string_view trimmed(std::string_view token) {
    const auto last = token.find_last_not_of(" \t\r\n");
    return token.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

// Reads one body. A separate class, so that the many small readers share `out` and `base`.
class Reader {
public:
    Reader(std::string_view body, model::Endpoint endpoint, Inspected& out)
        : base_{body.data()}, endpoint_{endpoint}, out_{out} {
        out_.prompt.text_bytes = body.size();
    }

    Step read(Key key, std::string_view name, json::value value) {
        json::json_type type{};
        if (const auto error = value.type().get(type); error) return broken(error);
        if (type == json::json_type::null && key != Key::model && key != Key::stream_options) return {};
        switch (key) {
            case Key::model: return read_model(value);
            case Key::stream: return read_bool(name, value, out_.stream);
            case Key::stream_options: return read_stream_options(value, type);
            case Key::messages: return read_messages(value, type);
            case Key::prompt:
            case Key::input: return read_prompt(name, value);
            case Key::content: out_.features.add(Feature::tokenize_content); return {};
            case Key::prompt_shape: out_.prompt.reshaped = true; return {};
            case Key::max_tokens:
                if (out_.max_tokens && saw_max_completion_tokens_) return {};
                return read_count(name, value, out_.max_tokens);
            case Key::max_completion_tokens:
                saw_max_completion_tokens_ = true;
                return read_count(name, value, out_.max_tokens);
            case Key::n: return read_choices(name, value);
            case Key::temperature: return read_temperature(name, value);
            case Key::previous_response_id: return needs_state(name);
            case Key::background: return read_background(name, value);
            default: return read_feature(key, name, value, type);
        }
    }

    // Behind the last member: what several of them say together.
    void finish() {
        if (endpoint_ == model::Endpoint::completions)
            out_.choices = saturating_product(out_.choices, std::max<std::uint64_t>(1, out_.prompt.count));
    }

    static std::unexpected<InspectError> broken(simdjson::error_code error) {
        return invalid_json(fmt::format("The request body is not valid JSON: {}.", simdjson::error_message(error)));
    }

private:
    [[nodiscard]] ByteRange range_of(std::string_view token) const {
        const auto begin = static_cast<std::size_t>(token.data() - base_);
        return {begin, begin + token.size()};
    }

    Step read_model(json::value value) {
        out_.model_value = range_of(trimmed(value.raw_json_token()));
        std::string_view text;
        const auto error = value.get_string().get(text);
        if (error == simdjson::INCORRECT_TYPE) return wrong_type("model", "a string");
        if (error) return broken(error);
        out_.model = text;
        return {};
    }

    Step read_bool(std::string_view name, json::value value, bool& into) {
        const auto error = value.get_bool().get(into);
        if (error == simdjson::INCORRECT_TYPE) return wrong_type(name, "a boolean");
        if (error) return broken(error);
        return {};
    }

    Step read_count(std::string_view name, json::value value, std::optional<std::uint64_t>& into) {
        std::uint64_t number = 0;
        if (value.get_uint64().get(number)) return wrong_type(name, "a whole number of tokens, 0 or more");
        into = number;
        return {};
    }

    static Step needs_state(std::string_view name) {
        return std::unexpected{InspectError{
            Reason::unsupported_parameter,
            fmt::format("'{}' needs state that this gateway does not hold; leave it out.", name), std::string{name}}};
    }

    Step read_background(std::string_view name, json::value value) {
        bool flag = false;
        if (auto step = read_bool(name, value, flag); !step) return step;
        if (flag) return needs_state(name);
        return {};
    }

    Step read_choices(std::string_view name, json::value value) {
        if (value.get_uint64().get(out_.choices)) return wrong_type(name, "a whole number");
        if (out_.choices > 1) out_.features.add(Feature::multiple_choices);
        return {};
    }

    Step read_temperature(std::string_view name, json::value value) {
        double number = 0;
        if (value.get_double().get(number)) return wrong_type(name, "a number");
        out_.temperature = number == 0 ? TemperatureClass::greedy : TemperatureClass::sampled;
        return {};
    }

    Step read_stream_options(json::value value, json::json_type type) {
        const auto token = value.raw_json_token();
        if (type == json::json_type::null) {
            out_.stream_options = range_of(trimmed(token));
            return {};
        }
        if (type != json::json_type::object) return wrong_type("stream_options", "an object");
        json::object object;
        if (const auto error = value.get_object().get(object); error) return broken(error);
        out_.stream_options_is_object = true;
        out_.stream_options_is_empty = true;
        bool seen = false;
        for (auto field : object) {
            out_.stream_options_is_empty = false;
            std::string_view name;
            if (const auto error = field.unescaped_key().get(name); error) return broken(error);
            if (name != "include_usage") continue;
            if (seen)
                return invalid_json("'stream_options.include_usage' stands twice in the request body; send it once.");
            seen = true;
            json::value inner;
            if (const auto error = field.value().get(inner); error) return broken(error);
            if (auto step = read_include_usage(inner); !step) return step;
        }
        const auto begin = static_cast<std::size_t>(token.data() - base_);
        out_.stream_options = {begin, begin + 1};
        return {};
    }

    Step read_include_usage(json::value value) {
        out_.include_usage = range_of(trimmed(value.raw_json_token()));
        json::json_type type{};
        if (const auto error = value.type().get(type); error) return broken(error);
        if (type == json::json_type::null) return {};
        return read_bool("stream_options.include_usage", value, out_.include_usage_asked);
    }

    Step read_prompt(std::string_view name, json::value value) {
        if (endpoint_ == model::Endpoint::tokenize) out_.features.add(Feature::tokenize_prompt);
        PromptSize size;
        const auto error = measure_prompt(value, size);
        if (error == simdjson::INCORRECT_TYPE)
            return wrong_type(name, "a string, an array of token ids, or an array of several of these");
        if (error) return broken(error);
        if (size.media) out_.features.add(Feature::media);
        out_.prompt.count = size.prompts;
        out_.prompt.text_bytes = size.text_bytes;
        out_.prompt.token_ids = size.token_ids;
        return {};
    }

    // Only the types of content parts are looked at: text needs no capability, everything else is media.
    Step read_messages(json::value value, json::json_type type) {
        if (endpoint_ == model::Endpoint::tokenize) out_.features.add(Feature::tokenize_messages);
        if (type != json::json_type::array) return wrong_type("messages", "an array");
        json::array messages;
        if (const auto error = value.get_array().get(messages); error) return broken(error);
        for (auto element : messages) {
            json::value message;
            if (const auto error = element.get(message); error) return broken(error);
            json::object fields;
            if (const auto error = message.get_object().get(fields); error == simdjson::INCORRECT_TYPE)
                return wrong_type("messages", "an array of objects");
            else if (error)
                return broken(error);
            for (auto field : fields) {
                std::string_view name;
                if (const auto error = field.unescaped_key().get(name); error) return broken(error);
                if (name != "content") continue;
                json::value content;
                if (const auto error = field.value().get(content); error) return broken(error);
                if (auto step = read_content(content); !step) return step;
            }
        }
        return {};
    }

    Step read_content(json::value content) {
        json::array parts;
        if (content.get_array().get(parts)) return {};
        for (auto element : parts) {
            json::value part;
            if (const auto error = element.get(part); error) return broken(error);
            json::object fields;
            if (part.get_object().get(fields)) continue;
            for (auto field : fields) {
                std::string_view name;
                if (const auto error = field.unescaped_key().get(name); error) return broken(error);
                if (name != "type") continue;
                std::string_view kind;
                if (field.value().get_string().get(kind)) continue;
                if (kind != "text" && kind != "refusal") out_.features.add(Feature::media);
            }
        }
        return {};
    }

    Step read_feature(Key key, std::string_view name, json::value value, json::json_type type) {
        switch (key) {
            case Key::tools:
            case Key::functions: return add_if_filled(Feature::tools, value, type);
            case Key::response_format: return read_response_format(value, type);
            case Key::structured_outputs:
            case Key::guided_json:
            case Key::guided_regex:
            case Key::guided_choice:
            case Key::guided_grammar: out_.features.add(Feature::structured_output); return {};
            case Key::logprobs: return read_logprobs(name, value, type);
            case Key::top_logprobs: return add_if_number(Feature::logprobs, name, value, 0.0);
            case Key::prompt_logprobs: out_.features.add(Feature::prompt_logprobs); return {};
            case Key::min_p: return add_if_number(Feature::min_p, name, value, 0.0);
            case Key::logit_bias: return add_if_filled(Feature::logit_bias, value, type);
            case Key::min_tokens: return add_if_number(Feature::min_tokens, name, value, 0.0);
            case Key::presence_penalty:
            case Key::frequency_penalty: return add_if_number(Feature::penalties, name, value, 0.0);
            case Key::repetition_penalty: return add_if_number(Feature::penalties, name, value, 1.0);
            case Key::best_of: return add_if_number(Feature::best_of, name, value, 1.0);
            case Key::echo: return add_if_true(Feature::echo, name, value);
            case Key::suffix: out_.features.add(Feature::suffix); return {};
            case Key::reasoning_effort: out_.features.add(Feature::reasoning); return {};
            case Key::dimensions: out_.features.add(Feature::dimensions); return {};
            case Key::encoding_format: return read_encoding(name, value);
            default: return {};
        }
    }

    Step read_encoding(std::string_view name, json::value value) {
        std::string_view text;
        // Other encodings are bytes, not JSON, and would not come through.
        if (value.get_string().get(text) || (text != "float" && text != "base64"))
            return wrong_type(name, "'float' or 'base64'");
        if (text != "float") out_.features.add(Feature::encoding_format);
        return {};
    }

    Step add_if_number(Feature feature, std::string_view name, json::value value, double neutral) {
        double number = 0;
        if (value.get_double().get(number)) return wrong_type(name, "a number");
        if (number != neutral) out_.features.add(feature);
        return {};
    }

    Step add_if_true(Feature feature, std::string_view name, json::value value) {
        bool flag = false;
        if (auto step = read_bool(name, value, flag); !step) return step;
        if (flag) out_.features.add(feature);
        return {};
    }

    // chat: a boolean; completions: a number, where 0 still asks for the chosen token's logprob.
    Step read_logprobs(std::string_view name, json::value value, json::json_type type) {
        if (type == json::json_type::boolean) return add_if_true(Feature::logprobs, name, value);
        if (type != json::json_type::number) return wrong_type(name, "a boolean or a number");
        out_.features.add(Feature::logprobs);
        return {};
    }

    Step add_if_filled(Feature feature, json::value value, json::json_type type) {
        bool empty = false;
        simdjson::error_code error = simdjson::SUCCESS;
        if (type == json::json_type::array) {
            json::array array;
            error = value.get_array().get(array);
            if (!error) error = array.is_empty().get(empty);
        } else if (type == json::json_type::object) {
            json::object object;
            error = value.get_object().get(object);
            if (!error) error = object.is_empty().get(empty);
        }
        if (error) return broken(error);
        if (!empty) out_.features.add(feature);
        return {};
    }

    Step read_response_format(json::value value, json::json_type type) {
        if (type != json::json_type::object) return wrong_type("response_format", "an object");
        json::object object;
        if (const auto error = value.get_object().get(object); error) return broken(error);
        std::string_view kind;
        const auto error = object.find_field_unordered("type").get_string().get(kind);
        if (error || kind != "text") out_.features.add(Feature::structured_output);
        return {};
    }

    const char* base_;
    model::Endpoint endpoint_;
    Inspected& out_;
    bool saw_max_completion_tokens_ = false;
};

}  // namespace

routing::PromptKind prompt_kind(model::Endpoint endpoint, const Inspected& inspected) noexcept {
    if (endpoint == model::Endpoint::completions) return routing::PromptKind::text;
    if (endpoint == model::Endpoint::embeddings) return routing::PromptKind::embedding;
    // These make templates say more.
    for (const auto feature : {Feature::tools, Feature::structured_output, Feature::reasoning})
        if (inspected.features.contains(feature)) return routing::PromptKind::chat_with_tools;
    return routing::PromptKind::chat;
}

struct Inspector::State {
    json::parser parser;
};

Inspector::Inspector() : state_{std::make_unique<State>()} {}
Inspector::Inspector(Inspector&&) noexcept = default;
Inspector& Inspector::operator=(Inspector&&) noexcept = default;
Inspector::~Inspector() = default;

std::expected<Inspected, InspectError> Inspector::inspect(const std::string& body, model::Endpoint endpoint) {
    json::document document;
    const simdjson::padded_string_view padded{body.data(), body.size(), body.capacity()};
    // What a long body needed is not kept for the short ones.
    constexpr std::size_t most_kept_bytes = 1024 * 1024;
    if (state_->parser.capacity() > most_kept_bytes && body.size() <= most_kept_bytes) state_->parser = json::parser{};
    if (const auto error = state_->parser.iterate(padded).get(document); error) return Reader::broken(error);
    json::object root;
    if (const auto error = document.get_object().get(root); error == simdjson::INCORRECT_TYPE)
        return invalid_json("The request body must be a JSON object.");
    else if (error)
        return Reader::broken(error);

    Inspected out;
    Reader reader{body, endpoint, out};
    std::uint64_t seen = 0;
    for (auto field : root) {
        std::string_view name;
        if (const auto error = field.unescaped_key().get(name); error) return Reader::broken(error);
        const auto known = key_of(name, endpoint);
        if (!known) continue;
        const std::uint64_t bit = 1ULL << known->position;
        if ((seen & bit) != 0)
            return invalid_json(fmt::format("'{}' stands twice in the request body; send it once.", known->name));
        seen |= bit;
        json::value value;
        if (const auto error = field.value().get(value); error) return Reader::broken(error);
        if (auto step = reader.read(known->key, known->name, value); !step)
            return std::unexpected{std::move(step).error()};
    }
    // At its end the document has no location any more; anything else is trailing bytes.
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
        return invalid_json("The request body has bytes after its JSON object.");
    if (!out.model_value.present())
        return std::unexpected{InspectError{Reason::invalid_request,
                                            "'model' is missing: name one of the models of GET /v1/models.", "model"}};
    reader.finish();
    return out;
}

}  // namespace weir::gateway
