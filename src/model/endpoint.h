// Endpoint: the client API's operations, with the one table of their names and paths.
// Source: contract.md section 3.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::model {

enum class Endpoint : std::uint8_t {
    chat_completions,
    completions,
    responses,
    messages,
    embeddings,
    rerank,
    score,
    tokenize,
};

inline constexpr std::array all_endpoints{
    Endpoint::chat_completions, Endpoint::completions, Endpoint::responses, Endpoint::messages,
    Endpoint::embeddings,       Endpoint::rerank,      Endpoint::score,     Endpoint::tokenize};

// The name used in configuration, records and metric labels: "chat.completions".
[[nodiscard]] std::string_view name_of(Endpoint endpoint) noexcept;
// The canonical request path: "/v1/chat/completions".
[[nodiscard]] std::string_view path_of(Endpoint endpoint) noexcept;
[[nodiscard]] std::optional<Endpoint> endpoint_from_name(std::string_view name) noexcept;

// A set of endpoints; bit i is all_endpoints[i].
class EndpointSet {
public:
    constexpr void add(Endpoint endpoint) noexcept { bits_ = static_cast<std::uint16_t>(bits_ | bit(endpoint)); }
    [[nodiscard]] constexpr bool contains(Endpoint endpoint) const noexcept { return (bits_ & bit(endpoint)) != 0; }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
    friend constexpr bool operator==(EndpointSet, EndpointSet) = default;

private:
    static constexpr std::uint16_t bit(Endpoint endpoint) noexcept {
        return static_cast<std::uint16_t>(1U << static_cast<unsigned>(endpoint));
    }
    std::uint16_t bits_ = 0;
};

}  // namespace weir::model
