// EngineError: an engine's error, whatever its shape: `error` as object or string, flat or nested, `code` a number or a
// text, Anthropic's, FastAPI's `detail`, or no JSON at all. Also for `data:` of an error event in a stream.
// Pure; never throws on input. Texts are cut at max_message_bytes. Source: facts/engines.md sections 2.5, 5.2, 5.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::engine {

inline constexpr std::size_t max_message_bytes = 2048;

struct EngineError {
    std::string message;  // "" = the engine gave none
    std::string type;  // "" = none
    std::string param;  // "" = none
    std::string code;  // as text, numbers too; "" = none
    bool is_context_overflow = false;
    bool is_model_missing = false;  // 404 for the model: this replica serves something else
    std::optional<std::uint64_t> prompt_tokens;  // of an overflow, where told
    std::optional<std::uint64_t> context_tokens;  // of an overflow, where told
};

// `status` is the response's, or 0 for an error event.
[[nodiscard]] EngineError parse_error_body(int status, std::string_view body);

}  // namespace weir::engine
