// JsonDocument: an engine's JSON answer, read by JSON pointer ("/error/message"). Whatever is absent or of another type
// reads as absent; no input makes it throw. For answers outside the hot path: it copies and parses the whole text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace weir::engine {

enum class JsonKind : std::uint8_t { absent, object, array, string, number, boolean, null };

class JsonDocument {
public:
    // nullopt when the text is not one valid JSON value.
    [[nodiscard]] static std::optional<JsonDocument> parse(std::string_view text);
    JsonDocument(JsonDocument&&) noexcept;
    JsonDocument& operator=(JsonDocument&&) noexcept;
    ~JsonDocument();

    [[nodiscard]] JsonKind kind(std::string_view pointer) const;
    [[nodiscard]] std::optional<std::string> text(std::string_view pointer) const;
    [[nodiscard]] std::optional<std::uint64_t> count(std::string_view pointer) const;  // a whole number >= 0
    [[nodiscard]] std::optional<bool> flag(std::string_view pointer) const;
    // A string as it is, a whole number in digits: for members that are sometimes the one, sometimes the other.
    [[nodiscard]] std::optional<std::string> text_or_digits(std::string_view pointer) const;
    [[nodiscard]] std::size_t items(std::string_view pointer) const;  // of an array, else 0

private:
    struct State;
    explicit JsonDocument(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace weir::engine
