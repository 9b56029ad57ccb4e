// Version: an engine's version as numbers that compare. "0.23.1rc1.dev1120+g0f0f" is 0.23.1, "v0.11.1" is 0.11.1;
// a llama.cpp build "b10587-3f545becc" is 10587.0.0. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::engine {

struct Version {
    std::uint32_t major = 0;
    std::uint32_t minor = 0;
    std::uint32_t patch = 0;
    friend auto operator<=>(const Version&, const Version&) = default;
};

// nullopt when the text does not begin like a version.
[[nodiscard]] std::optional<Version> parse_version(std::string_view text) noexcept;

}  // namespace weir::engine
