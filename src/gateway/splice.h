// Splice: replaces ranges of a text without copying what stays: the result is a list of slices of the original
// and of the replacements. Invariant: edits are in order and do not overlap. Pure.
#pragma once

#include "base/inline_vector.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace weir::gateway {

// Bytes [begin, end) of the original become `replacement`. begin == end inserts. The replacement outlives the slices.
struct Edit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string_view replacement;
};

// Most texts are edited in one place or two.
using Slices = base::InlineVector<std::string_view, 5>;

// Appends the slices of the edited text to `slices`. The edits count from `offset` on.
void splice(std::string_view original, std::span<const Edit> edits, std::size_t offset, Slices& slices);

[[nodiscard]] std::size_t total_bytes(std::span<const std::string_view> slices) noexcept;
[[nodiscard]] std::string joined(std::span<const std::string_view> slices);

// "text" as a JSON string, quotes included.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace weir::gateway
