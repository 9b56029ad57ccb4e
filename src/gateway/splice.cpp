#include "gateway/splice.h"

#include "base/json_writer.h"

#include <algorithm>
#include <cassert>

namespace weir::gateway {

void splice(std::string_view original, std::span<const Edit> edits, std::size_t offset, Slices& slices) {
    assert(std::ranges::is_sorted(edits, {}, &Edit::begin));
    std::size_t at = 0;
    for (const Edit& edit : edits) {
        const std::size_t begin = edit.begin + offset;
        if (begin > at) slices.push_back(original.substr(at, begin - at));
        if (!edit.replacement.empty()) slices.push_back(edit.replacement);
        at = std::max(at, edit.end + offset);
    }
    if (at < original.size()) slices.push_back(original.substr(at));
}

std::size_t total_bytes(std::span<const std::string_view> slices) noexcept {
    std::size_t total = 0;
    for (const auto slice : slices)
        total += slice.size();
    return total;
}

std::string joined(std::span<const std::string_view> slices) {
    std::string text;
    text.reserve(total_bytes(slices));
    for (const auto slice : slices)
        text += slice;
    return text;
}

std::string json_string(std::string_view text) {
    std::string quoted;
    base::append_json_string(quoted, text);
    return quoted;
}

}  // namespace weir::gateway
