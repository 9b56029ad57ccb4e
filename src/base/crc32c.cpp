#include "base/crc32c.h"

#include <array>
#include <cstring>

namespace weir::base {

namespace {

constexpr std::uint32_t reversed_polynomial = 0x82F63B78U;

constexpr std::array<std::uint32_t, 256> make_table() noexcept {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1U) != 0 ? (value >> 1U) ^ reversed_polynomial : value >> 1U;
        table[i] = value;
    }
    return table;
}

constexpr auto table = make_table();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const std::byte> bytes) noexcept {
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    std::uint64_t value = 0xFFFFFFFFU;
    for (; left >= 8; left -= 8, at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, 8);
        value = __builtin_ia32_crc32di(value, word);
    }
    auto last = static_cast<std::uint32_t>(value);
    for (; left > 0; --left, ++at)
        last = __builtin_ia32_crc32qi(last, std::to_integer<unsigned char>(*at));
    return ~last;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept {
    std::uint32_t value = 0xFFFFFFFFU;
    for (const std::byte byte : bytes)
        value = (value >> 8U) ^ table[(value ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU];
    return ~value;
}

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return by_instruction(bytes);
#endif
    return crc32c_by_table(bytes);
}

}  // namespace weir::base
