// The readable bytes behind every text that is handed out: simdjson reads that far beyond what it is given.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::http {

inline constexpr std::size_t padding_bytes = 64;

// A copy with that much room behind it.
[[nodiscard]] inline std::string padded(std::string_view text) {
    std::string copy;
    copy.reserve(text.size() + padding_bytes);
    copy.append(text);
    return copy;
}

}  // namespace weir::http
