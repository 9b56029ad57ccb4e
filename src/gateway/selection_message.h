// What a client is told when no pool of an alias can serve its request. Pure.
#pragma once

#include "gateway/snapshot.h"
#include "routing/eligibility.h"

#include <string>

namespace weir::gateway {

[[nodiscard]] std::string refusal_message(const routing::Refusal& refusal, const Alias& alias);

}  // namespace weir::gateway
