// An alias as configured: the stable model name that clients call, its contract, and the pools behind it.
#pragma once

#include "base/time.h"
#include "config/limits.h"
#include "model/endpoint.h"
#include "model/feature.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::config {

struct Objective {
    std::optional<base::Nanoseconds> ttft_p95;
    std::optional<base::Nanoseconds> tpot_p95;
    std::optional<base::Nanoseconds> e2e_p95;
    std::optional<double> error_rate;  // a fraction: 0.5% is 0.005
};

// One pool's part in an alias.
struct PoolUse {
    std::string pool;
    std::uint32_t order = 1;   // equal = one candidate set; lower first, spilling at the limit
    bool admitted = false;     // serves without a rollout
    std::string served_model;  // what the engine calls it; "" = the pool's target.model
};

struct Alias {
    std::string name;
    std::vector<std::string> synonyms;  // the key `names`
    std::string family;
    model::EndpointSet endpoints;
    std::optional<std::uint64_t> context_tokens;
    bool streaming = true;
    model::FeatureSet features;  // what the contract promises
    bool require_lossless = false;
    bool allow_unmeasured = true;
    std::vector<std::string> regions;                 // empty = any
    std::vector<std::string> requires_data_policies;  // empty = none
    Objective objective;
    base::Nanoseconds client_timeout{std::chrono::seconds{600}};
    Limits limits;  // of all callers together
    std::vector<PoolUse> pools;
    std::string baseline;  // "" = none stated; then no pool speculates
};

}  // namespace weir::config
