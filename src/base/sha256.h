// SHA-256. The algorithm is looked up once per process and one context per thread is reused, so hashing a key costs
// only the hash. Safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::base {

using Sha256Digest = std::array<std::uint8_t, 32>;

[[nodiscard]] Sha256Digest sha256(std::string_view bytes);

// 64 lower-case hexadecimal digits, and back (either case); nullopt when it is not exactly that.
[[nodiscard]] std::string to_hex(const Sha256Digest& digest);
[[nodiscard]] std::optional<Sha256Digest> sha256_from_hex(std::string_view text) noexcept;

// Takes the same time wherever the digests differ.
[[nodiscard]] bool equal_in_constant_time(const Sha256Digest& a, const Sha256Digest& b) noexcept;

// For hash tables: the digest is already uniform, so its first bytes are the hash.
struct Sha256Hash {
    [[nodiscard]] std::size_t operator()(const Sha256Digest& digest) const noexcept;
};

}  // namespace weir::base
