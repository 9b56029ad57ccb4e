#include "sim/chat_request.h"

#include "sim/tokenizer.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace weir::sim {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr int most_choices = 128;
constexpr int most_dimensions = 8192;
constexpr int text_output_tokens = 16;  // of /v1/completions, where nothing is asked for

std::unexpected<ApiError> wrong(std::string_view field, std::string_view expected) {
    return std::unexpected{invalid_body(fmt::format("body.{}: {}", field, expected))};
}

// Absent and null are the same: the field keeps its default.
std::optional<element> find(const object& body, std::string_view name) {
    element value;
    if (body[name].get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
    return value;
}

Outcome<bool> read_bool(const object& body, std::string_view name) {
    const auto value = find(body, name);
    if (!value) return false;
    bool flag = false;
    if (value->get(flag) != simdjson::SUCCESS) return wrong(name, "Input should be a valid boolean");
    return flag;
}

Outcome<std::string> read_text(const object& body, std::string_view name) {
    const auto value = find(body, name);
    if (!value) return std::string{};
    std::string_view text;
    if (value->get(text) != simdjson::SUCCESS) return wrong(name, "Input should be a valid string");
    return std::string{text};
}

Outcome<std::optional<int>> read_int(const object& body, std::string_view name, int least) {
    const auto value = find(body, name);
    if (!value) return std::nullopt;
    std::int64_t number = 0;
    if (value->get(number) != simdjson::SUCCESS) return wrong(name, "Input should be a valid integer");
    if (number < least || number > std::numeric_limits<int>::max())
        return std::unexpected{
            bad_request(fmt::format("{} must be at least {}, got {}.", name, least, number), std::string{name})};
    return static_cast<int>(number);
}

// Content is text, or parts of which only the texts count.
bool append_content(std::string& out, const element& content) {
    std::string_view text;
    if (content.get(text) == simdjson::SUCCESS) {
        out += text;
        return true;
    }
    if (!content.is_array()) return content.is_null();
    for (const auto part : simdjson::dom::array{content}) {
        if (!part.is_object()) return false;
        if (part["text"].get(text) == simdjson::SUCCESS) out += text;
    }
    return true;
}

struct Prompt {
    std::string text;
    int extra_tokens = tokens_of_reply_opening;
};

Outcome<Prompt> read_messages(const object& body) {
    const auto messages = find(body, "messages");
    if (!messages) return wrong("messages", "Field required");
    if (!messages->is_array()) return wrong("messages", "Input should be a valid list");
    Prompt prompt;
    for (const auto message : simdjson::dom::array{*messages}) {
        if (!message.is_object()) return wrong("messages", "Input should be a valid dictionary");
        std::string_view role;
        if (message["role"].get(role) != simdjson::SUCCESS) return wrong("messages.role", "Field required");
        element content;
        if (message["content"].get(content) == simdjson::SUCCESS && !append_content(prompt.text, content))
            return wrong("messages.content", "Input should be a valid string or list");
        prompt.extra_tokens += tokens_per_message;
    }
    if (prompt.extra_tokens == tokens_of_reply_opening)
        return std::unexpected{bad_request("At least one message is required.", "messages")};
    return prompt;
}

// Text, or the ids of tokens.
Outcome<Prompt> read_text_prompt(const element& value, std::string_view name) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS)
        return Prompt{.text = std::string{text}, .extra_tokens = count_tokens(text)};
    simdjson::dom::array ids;
    if (value.get(ids) != simdjson::SUCCESS || ids.size() == 0)
        return wrong(name, "Input should be a valid string or list");
    for (const auto id : ids)
        if (!id.is_int64()) return wrong(name, "Input should be a valid integer");
    return Prompt{.text = simdjson::minify(value), .extra_tokens = static_cast<int>(ids.size())};
}

// One prompt, or a list of them; each with all of its tokens as `extra_tokens`.
Outcome<std::vector<Prompt>> read_text_prompts(const object& body, std::string_view name) {
    const auto value = find(body, name);
    if (!value) return wrong(name, "Field required");
    std::vector<Prompt> prompts;
    const auto add = [&](const element& one) -> Outcome<void> {
        auto prompt = read_text_prompt(one, name);
        if (!prompt) return std::unexpected{std::move(prompt).error()};
        prompts.push_back(*std::move(prompt));
        return {};
    };
    simdjson::dom::array list;
    const bool several = value->get(list) == simdjson::SUCCESS && list.size() > 0 && !list.at(0).is_int64();
    if (!several) {
        if (auto added = add(*value); !added) return std::unexpected{std::move(added).error()};
        return prompts;
    }
    for (const auto one : list)
        if (auto added = add(one); !added) return std::unexpected{std::move(added).error()};
    return prompts;
}

Outcome<std::vector<std::string>> read_stops(const object& body) {
    std::vector<std::string> stops;
    const auto value = find(body, "stop");
    if (!value) return stops;
    const auto add = [&stops](const element& one) {
        std::string_view text;
        if (one.get(text) != simdjson::SUCCESS || text.empty()) return false;
        stops.emplace_back(text);
        return true;
    };
    if (!value->is_array()) {
        if (!add(*value)) return wrong("stop", "Input should be a valid string or list");
        return stops;
    }
    for (const auto one : simdjson::dom::array{*value})
        if (!add(one)) return wrong("stop", "Input should be a valid string");
    return stops;
}

bool is_nonzero_number(const std::optional<element>& value) {
    double number = 0;
    return value && value->get(number) == simdjson::SUCCESS && number != 0;
}

bool is_filled_object(const std::optional<element>& value) {
    object map;
    return value && value->get(map) == simdjson::SUCCESS && map.size() > 0;
}

Outcome<object> parse_object(simdjson::dom::parser& parser, const std::string& body) {
    element root;
    if (const auto error = parser.parse(body).get(root); error != simdjson::SUCCESS)
        return std::unexpected{invalid_body(fmt::format("JSON decode error: {}", simdjson::error_message(error)))};
    object fields;
    if (root.get(fields) != simdjson::SUCCESS)
        return std::unexpected{invalid_body("body: Input should be a valid dictionary")};
    return fields;
}

Outcome<void> read_stream(const object& body, ChatRequest& request) {
    auto stream = read_bool(body, "stream");
    if (!stream) return std::unexpected{std::move(stream).error()};
    request.stream = *stream;
    const auto options = find(body, "stream_options");
    if (!options) return {};
    object fields;
    if (options->get(fields) != simdjson::SUCCESS) return wrong("stream_options", "Input should be a valid dictionary");
    if (!request.stream)
        return std::unexpected{bad_request("Stream options can only be defined when `stream=True`.", "stream_options")};
    auto include = read_bool(fields, "include_usage");
    if (!include) return std::unexpected{std::move(include).error()};
    auto continuous = read_bool(fields, "continuous_usage_stats");
    if (!continuous) return std::unexpected{std::move(continuous).error()};
    request.include_usage = *include;
    request.continuous_usage = *include && *continuous;
    return {};
}

Outcome<void> read_lengths(const object& body, ChatRequest& request) {
    auto n = read_int(body, "n", 1);
    if (!n) return std::unexpected{std::move(n).error()};
    request.n = n->value_or(1);
    if (request.n > most_choices)
        return std::unexpected{bad_request(fmt::format("n must be at most {}, got {}.", most_choices, request.n), "n")};
    for (const auto* const name : {"max_tokens", "max_completion_tokens"}) {
        auto limit = read_int(body, name, 1);
        if (!limit) return std::unexpected{std::move(limit).error()};
        if (*limit) request.max_output_tokens = *limit;
    }
    auto least = read_int(body, "min_tokens", 0);
    if (!least) return std::unexpected{std::move(least).error()};
    request.min_tokens = least->value_or(0);
    auto ignore = read_bool(body, "ignore_eos");
    if (!ignore) return std::unexpected{std::move(ignore).error()};
    request.ignore_eos = *ignore;
    return {};
}

Outcome<void> read_names(const object& body, ChatRequest& request) {
    auto model = read_text(body, "model");
    if (!model) return std::unexpected{std::move(model).error()};
    request.model = *std::move(model);
    auto id = read_text(body, "request_id");
    if (!id) return std::unexpected{std::move(id).error()};
    request.request_id = *std::move(id);
    return {};
}

// What chats and texts have in common: all but the prompt.
Outcome<void> read_common(const object& fields, ChatRequest& request) {
    for (auto* const read : {&read_names, &read_stream, &read_lengths})
        if (auto done = read(fields, request); !done) return std::unexpected{std::move(done).error()};
    auto stops = read_stops(fields);
    if (!stops) return std::unexpected{std::move(stops).error()};
    request.stop = *std::move(stops);
    request.uses_min_p = is_nonzero_number(find(fields, "min_p"));
    request.uses_logit_bias = is_filled_object(find(fields, "logit_bias"));
    return {};
}

}  // namespace

Outcome<ChatRequest> parse_chat_request(const std::string& body) {
    simdjson::dom::parser parser;
    auto fields = parse_object(parser, body);
    if (!fields) return std::unexpected{std::move(fields).error()};
    ChatRequest request;
    if (auto done = read_common(*fields, request); !done) return std::unexpected{std::move(done).error()};
    auto prompt = read_messages(*fields);
    if (!prompt) return std::unexpected{std::move(prompt).error()};
    request.prompt_tokens = count_tokens(prompt->text) + prompt->extra_tokens;
    request.prompt = std::move(prompt->text);
    return request;
}

Outcome<ChatRequest> parse_completion_request(const std::string& body) {
    simdjson::dom::parser parser;
    auto fields = parse_object(parser, body);
    if (!fields) return std::unexpected{std::move(fields).error()};
    ChatRequest request{.model = {}, .is_text = true, .prompt = {}};
    if (auto done = read_common(*fields, request); !done) return std::unexpected{std::move(done).error()};
    auto prompts = read_text_prompts(*fields, "prompt");
    if (!prompts) return std::unexpected{std::move(prompts).error()};
    if (prompts->size() != 1)
        return std::unexpected{bad_request("This simulated engine takes one prompt in a request.", "prompt")};
    if (!request.max_output_tokens) request.max_output_tokens = text_output_tokens;
    request.prompt_tokens = prompts->front().extra_tokens;
    request.prompt = std::move(prompts->front().text);
    return request;
}

Outcome<EmbeddingRequest> parse_embedding_request(const std::string& body) {
    simdjson::dom::parser parser;
    auto fields = parse_object(parser, body);
    if (!fields) return std::unexpected{std::move(fields).error()};
    EmbeddingRequest request;
    auto model = read_text(*fields, "model");
    if (!model) return std::unexpected{std::move(model).error()};
    request.model = *std::move(model);
    auto inputs = read_text_prompts(*fields, "input");
    if (!inputs) return std::unexpected{std::move(inputs).error()};
    for (auto& input : *inputs) {
        request.prompt_tokens += input.extra_tokens;
        request.inputs.push_back(std::move(input.text));
    }
    auto dimensions = read_int(*fields, "dimensions", 1);
    if (!dimensions) return std::unexpected{std::move(dimensions).error()};
    request.dimensions = std::min(dimensions->value_or(request.dimensions), most_dimensions);
    auto format = read_text(*fields, "encoding_format");
    if (!format) return std::unexpected{std::move(format).error()};
    if (!format->empty() && *format != "float" && *format != "base64")
        return wrong("encoding_format", "Input should be 'float' or 'base64'");
    request.as_base64 = *format == "base64";
    return request;
}

Outcome<TokenizeRequest> parse_tokenize_request(const std::string& body) {
    simdjson::dom::parser parser;
    auto fields = parse_object(parser, body);
    if (!fields) return std::unexpected{std::move(fields).error()};
    TokenizeRequest request;
    auto model = read_text(*fields, "model");
    if (!model) return std::unexpected{std::move(model).error()};
    request.model = *std::move(model);
    if (find(*fields, "prompt")) {
        auto text = read_text(*fields, "prompt");
        if (!text) return std::unexpected{std::move(text).error()};
        request.text = *std::move(text);
        return request;
    }
    auto prompt = read_messages(*fields);
    if (!prompt) return std::unexpected{std::move(prompt).error()};
    request.text = std::move(prompt->text);
    request.extra_tokens = prompt->extra_tokens;
    return request;
}

}  // namespace weir::sim
