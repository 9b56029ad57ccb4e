// What the checks of a configuration must know of engines: config::EngineFacts from this module's tables.
#pragma once

#include "config/engine_facts.h"

namespace weir::engine {

[[nodiscard]] config::EngineFacts contract_facts();

}  // namespace weir::engine
