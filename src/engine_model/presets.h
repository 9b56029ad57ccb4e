// Presets: named engines to simulate. Figures are modelled on published measurements of speculative decoding on large
// GPUs and are illustrations: nothing here was measured on the machine that runs the simulation. Plain values.
#pragma once

#include "engine_model/parameters.h"

#include <span>
#include <string_view>

namespace weir::engine_model {

struct Preset {
    std::string_view name;
    std::string_view summary;  // one line, for people
    std::string_view model;    // the name it is served under unless told otherwise
    std::string_view method;   // of speculation; "none" without
    Parameters parameters;
};

[[nodiscard]] std::span<const Preset> presets();
// nullptr when there is none of that name.
[[nodiscard]] const Preset* find_preset(std::string_view name);

}  // namespace weir::engine_model
