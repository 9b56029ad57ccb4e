#include "gateway/request_id.h"

#include <bit>
#include <chrono>
#include <cstdint>

namespace weir::gateway {

namespace {

constexpr unsigned digit_bits = 6;
constexpr unsigned word_digits = 8;
constexpr unsigned word_bits = word_digits * digit_bits;
constexpr std::uint64_t word_mask = (std::uint64_t{1} << word_bits) - 1;

using Digits = std::array<char, word_digits>;

// Eight digits at once, the highest first: '-', '0' to '9', 'A' to 'Z', '_', 'a' to 'z', which is their order as bytes.
Digits digits_of(std::uint64_t word) noexcept {
    // Each half's bits go to the upper half of its place: 24 bits of 32, then 12 of 16, then 6 of 8.
    word = (word & 0xFFFFFFU) | ((word & 0xFFFFFF000000U) << 8U);
    word = (word & 0x00000FFF00000FFFU) | ((word & 0x00FFF00000FFF000U) << 4U);
    word = (word & 0x003F003F003F003FU) | ((word & 0x0FC00FC00FC00FC0U) << 2U);
    using Eight = signed char __attribute__((vector_size(8)));
    const auto value = std::bit_cast<Eight>(std::byteswap(word));
    // What lies between the runs of characters is left out.
    const Eight gaps = ((value > 0) & ('0' - '-' - 1)) + ((value > 10) & ('A' - '9' - 1)) +
                       ((value > 36) & ('_' - 'Z' - 1)) + ((value > 37) & ('a' - '_' - 1));
    return std::bit_cast<Digits>(value + '-' + gaps);
}

}  // namespace

RequestId make_request_id(base::WallTime now, base::Random& random) noexcept {
    const auto microseconds = std::chrono::floor<std::chrono::microseconds>(now.time_since_epoch()).count();
    const auto time = static_cast<std::uint64_t>(microseconds);  // nine digits
    constexpr unsigned random_bits = word_bits - digit_bits;
    const std::array<std::uint64_t, 3> words{
        (time >> digit_bits) & word_mask,
        ((time << random_bits) | (random() & ((std::uint64_t{1} << random_bits) - 1))) & word_mask,
        random() & word_mask};
    std::array<Digits, words.size()> id;
    static_assert(sizeof id == request_id_length);
    for (std::size_t i = 0; i < words.size(); ++i)
        id[i] = digits_of(words[i]);
    return std::bit_cast<RequestId>(id);
}

}  // namespace weir::gateway
