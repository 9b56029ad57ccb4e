// Bytes as lower-case hexadecimal text and back. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weir::base {

[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);

// Fills `bytes` from exactly 2 * bytes.size() digits of either case; false when the length or a digit is wrong.
[[nodiscard]] bool from_hex(std::string_view text, std::span<std::uint8_t> bytes) noexcept;

}  // namespace weir::base
