// Reader: what every reader of a configuration value needs: where problems go and how references are answered.
// Invariant: a function that returns false or nullopt has reported why. Text that came from the environment or a file
// is never part of a message. Used by one thread during a parse.
#pragma once

#include "base/node.h"
#include "base/problems.h"
#include "config/environment.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::config {

// A single value with its references resolved.
struct Scalar {
    std::string text;
    std::string shown;  // what a message may say instead of the text
};

struct Reader {
    const base::Document& document;
    const Environment& environment;
    std::string directory;  // relative `{file: PATH}` start here; "" = the working directory
    base::Problems& problems;
    base::Problems& warnings;

    bool refuse(const base::Node& node, std::string message);  // always false
    void warn(const base::Node& node, std::string message);
    void unknown_key(const base::Node& node, std::span<const std::string_view> known);
    void missing_key(const base::Node& map, std::string_view key);

    // `expected` completes "expected ...": "a duration".
    [[nodiscard]] std::optional<Scalar> scalar(const base::Node& node, std::string_view expected);

private:
    [[nodiscard]] std::optional<Scalar> substitute(const base::Node& node);
    [[nodiscard]] std::optional<Scalar> file_contents(const base::Node& path_node);
};

}  // namespace weir::config
