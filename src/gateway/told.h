// Told: what a response head tells callers with `debug` of the choice, on answers and refusals alike. Pure.
#pragma once

#include "model/record.h"

#include <string>

namespace weir::gateway {

// "power_of_two; in_flight=2; far=region_forbidden"; "" before any pool was judged.
[[nodiscard]] std::string decision_text(const model::DecisionRecord& decision);

}  // namespace weir::gateway
