// EngineFacts: what the checks of a file must know of engines. The module that knows engines stands above this one, so
// the composition root hands it in; where nothing is handed in, nothing is known and nothing is said.
#pragma once

#include "config/pool.h"
#include "model/endpoint.h"
#include "model/feature.h"

#include <functional>
#include <string>

namespace weir::config {

struct EngineFacts {
    // What a pool serves where the file does not say (capabilities.endpoints).
    std::function<model::EndpointSet(const Pool& pool)> endpoints;
    // Why requests with a promised feature would be kept from the pool: "vllm rejects it with eagle3 (...)"; "" = they
    // would not.
    std::function<std::string(const Pool& pool, model::Feature feature)> objection;
};

}  // namespace weir::config
