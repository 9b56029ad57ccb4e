// Limits of one scope (key, application, team, tenant or alias); every one is optional and absent means not limited
// here.
#pragma once

#include "base/units.h"

#include <cstdint>
#include <optional>

namespace weir::config {

struct Limits {
    std::optional<base::Rate> requests;
    std::optional<base::Rate> input_tokens;
    std::optional<base::Rate> output_tokens;
    std::optional<std::uint32_t> concurrency;  // requests at once
    [[nodiscard]] bool empty() const noexcept { return !requests && !input_tokens && !output_tokens && !concurrency; }
};

}  // namespace weir::config
