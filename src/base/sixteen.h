// Sixteen: sixteen bytes looked at at once, in whatever the target has for it (SSE2 on x86-64, NEON). For searches of
// bytes by class: compare the vector, then ask which bytes the comparison holds for. Pure.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace weir::base {

using Sixteen = unsigned char __attribute__((vector_size(16)));

// Sixteen bytes from `bytes` on; all of them are readable.
[[nodiscard]] inline Sixteen load_sixteen(const char* bytes) noexcept {
    Sixteen loaded;
    std::memcpy(&loaded, bytes, sizeof loaded);
    return loaded;
}

// Bit i is set where a comparison of two Sixteen holds for byte i.
template <class Comparison>
[[nodiscard]] inline std::uint32_t which(Comparison comparison) noexcept {
    static_assert(sizeof comparison == sizeof(Sixteen));
    using Bits = bool __attribute__((ext_vector_type(16)));
    return std::bit_cast<std::uint16_t>(__builtin_convertvector(comparison, Bits));
}

}  // namespace weir::base
