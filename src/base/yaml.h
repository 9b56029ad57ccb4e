// YAML text to Node. One document per file, keys are plain names, tags are ignored, duplicate keys are problems.
// Anchors, aliases and merge keys (`<<`) work by copying, within the limits. Everything hostile is bounded: file size,
// nesting, number of values, length of one value. Stateless, so safe from any thread.
#pragma once

#include "base/node.h"
#include "base/problems.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weir::base {

struct YamlLimits {
    std::size_t file_bytes = 16U << 20U;
    std::size_t scalar_bytes = 1U << 20U;
    std::size_t nodes = 500'000;  // copies made for aliases included
    int depth = 32;
};

// nullopt, with a problem added, when the text is not YAML or breaks a limit. Duplicate keys are problems too, but the
// tree comes nevertheless (the first of them counts), so that the reader can go on to find what else is wrong.
// `file` is only used as a name in problems.
[[nodiscard]] std::optional<Document> parse_yaml(std::string_view text, std::string file, Problems& problems,
                                                 const YamlLimits& limits = {});

}  // namespace weir::base
