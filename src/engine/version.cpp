#include "engine/version.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace weir::engine {

std::optional<Version> parse_version(std::string_view text) noexcept {
    const bool is_build = text.starts_with('b');
    if (is_build || text.starts_with('v')) text.remove_prefix(1);
    std::array<std::uint32_t, 3> numbers{};
    for (std::size_t part = 0; part < numbers.size(); ++part) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), numbers[part]);
        if (error != std::errc{}) {
            if (part == 0) return std::nullopt;
            numbers[part] = 0;  // "0.22.x": what is not a number is not part of the order
            break;
        }
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (is_build || !text.starts_with('.')) break;
        text.remove_prefix(1);
    }
    return Version{.major = numbers[0], .minor = numbers[1], .patch = numbers[2]};
}

}  // namespace weir::engine
