// CRC-32C (Castagnoli polynomial, RFC 3720 appendix B.4): finds bytes that were damaged, not bytes that were forged.
// Pure; uses the processor's instruction where there is one, with the same result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::base {

[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;
// The same by table, for processors without the instruction.
[[nodiscard]] std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept;

}  // namespace weir::base
