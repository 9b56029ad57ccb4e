#include "auth/secret.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace weir::auth {

namespace {

constexpr std::string_view prefix = "weir_";
constexpr std::string_view alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t random_digits = 43;  // 62^43 > 2^256
constexpr std::size_t checksum_digits = 6;

// The bytes as one big-endian number, written to base 62 with leading zeros. Long division, digit by digit.
std::string in_base_62(std::span<const std::uint8_t> bytes, std::size_t digits) {
    std::array<std::uint8_t, 32> number{};
    std::ranges::copy(bytes, number.end() - static_cast<std::ptrdiff_t>(bytes.size()));
    std::string text(digits, alphabet.front());
    for (std::size_t at = digits; at > 0; --at) {
        unsigned remainder = 0;
        for (auto& byte : number) {
            const unsigned dividend = remainder * 256 + byte;
            byte = static_cast<std::uint8_t>(dividend / alphabet.size());
            remainder = dividend % static_cast<unsigned>(alphabet.size());
        }
        text[at - 1] = alphabet[remainder];
    }
    return text;
}

}  // namespace

std::string make_secret(std::span<const std::uint8_t, 32> random) {
    auto secret = std::string{prefix} + in_base_62(random, random_digits);
    const auto digest = base::sha256(secret);
    secret += in_base_62(std::span{digest}.first<4>(), checksum_digits);
    return secret;
}

}  // namespace weir::auth
