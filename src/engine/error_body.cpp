#include "engine/error_body.h"

#include "engine/json_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace weir::engine {

namespace {

constexpr std::size_t max_word_bytes = 128;  // of type, param and code

// Never in the middle of a UTF-8 character.
std::string cut(std::string text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U)
        --bytes;
    text.resize(bytes);
    return text;
}

// Where the error's members are: the first of these that is there.
std::optional<std::string> object_of(const JsonDocument& document) {
    for (const std::string_view place : {"/error", "/response/error", "/detail"})
        if (document.kind(place) == JsonKind::object) return std::string{place};
    if (document.kind("") == JsonKind::object && document.kind("/message") == JsonKind::string) return std::string{};
    return std::nullopt;
}

EngineError from_object(const JsonDocument& document, const std::string& place) {
    EngineError error;
    error.message = cut(document.text(place + "/message").value_or(""), max_message_bytes);
    error.type = cut(document.text(place + "/type").value_or(""), max_word_bytes);
    error.param = cut(document.text(place + "/param").value_or(""), max_word_bytes);
    error.code = cut(document.text_or_digits(place + "/code").value_or(""), max_word_bytes);
    error.prompt_tokens = document.count(place + "/n_prompt_tokens");
    error.context_tokens = document.count(place + "/n_ctx");
    return error;
}

// FastAPI: [{"loc": ["body", "temperature"], "msg": "…", "type": "value_error"}, …]; the first stands for all.
EngineError from_validation(const JsonDocument& document) {
    EngineError error;
    error.message = cut(document.text("/detail/0/msg").value_or(""), max_message_bytes);
    error.type = cut(document.text("/detail/0/type").value_or(""), max_word_bytes);
    const std::size_t depth = document.items("/detail/0/loc");
    if (depth > 0)
        error.param =
            cut(document.text_or_digits(fmt::format("/detail/0/loc/{}", depth - 1)).value_or(""), max_word_bytes);
    return error;
}

EngineError from_document(const JsonDocument& document) {
    if (const auto place = object_of(document)) return from_object(document, *place);
    if (document.kind("/detail") == JsonKind::array) return from_validation(document);
    EngineError error;
    for (const std::string_view place : {"/error", "/detail"})
        if (auto text = document.text(place); text.has_value() && error.message.empty())
            error.message = cut(std::move(*text), max_message_bytes);
    return error;
}

// A plain sentence is kept; a page of HTML or bytes that are no text are not a message.
EngineError from_text(std::string_view body) {
    EngineError error;
    const auto start = body.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos || body[start] == '<' || body[start] == '{' || body[start] == '[') return error;
    body.remove_prefix(start);
    body = body.substr(0, body.find_last_not_of(" \t\r\n") + 1);
    const bool printable = std::ranges::all_of(body, [](char letter) { return letter >= ' ' && letter <= '~'; });
    if (printable && body.size() <= max_message_bytes) error.message = std::string{body};
    return error;
}

// Numbers in overflow messages: the digits right after, or right before, a fixed piece of text.
struct Anchor {
    std::string_view text;
    bool digits_follow = true;
};

std::optional<std::uint64_t> to_count(std::string_view digits) noexcept {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} ? std::optional{value} : std::nullopt;
}

std::optional<std::uint64_t> number_at(std::string_view message, const Anchor& anchor) noexcept {
    const std::size_t at = message.find(anchor.text);
    if (at == std::string_view::npos) return std::nullopt;
    if (anchor.digits_follow) return to_count(message.substr(at + anchor.text.size()));
    const std::string_view head = message.substr(0, at);
    const std::size_t before_digits = head.find_last_not_of("0123456789");
    return to_count(before_digits == std::string_view::npos ? head : head.substr(before_digits + 1));
}

template <std::size_t Size>
std::optional<std::uint64_t> first_number(std::string_view message, const std::array<Anchor, Size>& anchors) noexcept {
    for (const Anchor& anchor : anchors)
        if (const auto number = number_at(message, anchor)) return number;
    return std::nullopt;
}

// The sentences of vLLM (old and new), SGLang, llama.cpp.
constexpr std::array context_anchors{
    Anchor{"maximum context length is "}, Anchor{"maximum context length of "}, Anchor{"maximum model length of "},
    Anchor{"model's context length ("},   Anchor{"available context size ("},   Anchor{"(current batch size: "},
};
constexpr std::array prompt_anchors{
    Anchor{" input tokens", false},
    Anchor{" in the messages", false},
    Anchor{" tokens from the input messages", false},
    Anchor{"decoder prompt (length "},
    Anchor{"The input ("},
    Anchor{"request ("},
    Anchor{" tokens) is too large to process", false},
};

bool tells_overflow(const EngineError& error) noexcept {
    if (error.type == "exceed_context_size_error" || error.code == "context_length_exceeded") return true;
    return std::ranges::any_of(
        context_anchors, [&](const Anchor& anchor) { return error.message.find(anchor.text) != std::string::npos; });
}

// llama.cpp answers an input of an embedding that is too long with 500 (recording 117).
bool blames_itself_wrongly(const EngineError& error) noexcept {
    return error.message.find("tokens) is too large to process") != std::string::npos;
}

bool tells_missing_model(const EngineError& error) noexcept {
    if (error.code == "model_not_found" || error.param == "model") return true;
    const bool about_model =
        error.message.find("model") != std::string::npos || error.message.find("Model") != std::string::npos;
    return about_model && (error.message.find("does not exist") != std::string::npos ||
                           error.message.find("not found") != std::string::npos);
}

}  // namespace

EngineError parse_error_body(int status, std::string_view body) {
    const auto document = JsonDocument::parse(body);
    EngineError error = document.has_value() ? from_document(*document) : from_text(body);
    const bool blames_the_client = status == 0 || (status >= 400 && status < 500);
    error.is_context_overflow = (blames_the_client || blames_itself_wrongly(error)) && tells_overflow(error);
    error.is_model_missing = status == 404 && tells_missing_model(error);
    if (!error.is_context_overflow) {
        error.prompt_tokens = error.context_tokens = std::nullopt;
        return error;
    }
    if (!error.context_tokens.has_value()) error.context_tokens = first_number(error.message, context_anchors);
    if (!error.prompt_tokens.has_value()) error.prompt_tokens = first_number(error.message, prompt_anchors);
    return error;
}

}  // namespace weir::engine
