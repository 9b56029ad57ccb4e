// The simulated tokenizer: four bytes of text are one token, a message costs four more, the reply's opening three.
// Nothing like a real vocabulary, but consistent: /tokenize and the usage of a chat agree. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace weir::sim {

inline constexpr int tokens_per_message = 4;
inline constexpr int tokens_of_reply_opening = 3;

// Rounded up; saturates instead of overflowing.
[[nodiscard]] int count_tokens(std::string_view text) noexcept;
// As many ids as count_tokens says.
[[nodiscard]] std::vector<std::uint32_t> token_ids(std::string_view text);

// Spreads the bits of a number; the base of everything that must look random but repeat.
[[nodiscard]] std::uint64_t mix(std::uint64_t value) noexcept;
[[nodiscard]] std::uint64_t hash_text(std::string_view text) noexcept;

}  // namespace weir::sim
