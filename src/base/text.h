// Small helpers for text: suggestions for misspelt names, validity of UTF-8, text that is safe to show.
// Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::base {

// Edits (insert, delete, replace, swap neighbours) that turn a into b.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that was probably meant: at most a third of the word's length wrong (at least 1, at most 3 edits), case
// ignored. nullopt when nothing is near. Ties go to the first candidate.
[[nodiscard]] std::optional<std::string_view> did_you_mean(std::string_view word,
                                                           std::span<const std::string_view> candidates);

// "; did you mean X?" or "".
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

// How many bytes at the front are valid UTF-8 in whole characters.
[[nodiscard]] std::size_t valid_utf8_prefix(std::string_view text) noexcept;
[[nodiscard]] bool is_valid_utf8(std::string_view text) noexcept;

// In single quotes, control characters and invalid UTF-8 shown as `?`, cut after max_bytes with an ellipsis.
[[nodiscard]] std::string quoted(std::string_view text, std::size_t max_bytes = 60);

// "a, b or c".
[[nodiscard]] std::string join_or(std::span<const std::string_view> words);

// ASCII only.
[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept;

}  // namespace weir::base
