#include "sim/tokenizer.h"

#include <algorithm>
#include <limits>

namespace weir::sim {
namespace {

constexpr std::size_t bytes_per_token = 4;
constexpr std::uint32_t vocabulary_size = 128'000;

}  // namespace

int count_tokens(std::string_view text) noexcept {
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max() / 2);
    return static_cast<int>(std::min((text.size() + bytes_per_token - 1) / bytes_per_token, most));
}

std::vector<std::uint32_t> token_ids(std::string_view text) {
    std::vector<std::uint32_t> ids;
    ids.reserve(text.size() / bytes_per_token + 1);
    for (std::size_t at = 0; at < text.size(); at += bytes_per_token)
        ids.push_back(static_cast<std::uint32_t>(hash_text(text.substr(at, bytes_per_token)) % vocabulary_size));
    return ids;
}

std::uint64_t mix(std::uint64_t value) noexcept {
    // The finaliser of splitmix64 (Steele, Lea and Flood 2014).
    value += 0x9E3779B97F4A7C15U;
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
}

std::uint64_t hash_text(std::string_view text) noexcept {
    std::uint64_t hash = text.size();
    for (const char c : text)
        hash = mix(hash ^ static_cast<unsigned char>(c));
    return hash;
}

}  // namespace weir::sim
