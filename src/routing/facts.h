// Facts for eligibility: what a pool can do and is, what a request needs, what contract and policy demand.
// Plain values made by the owner of the configuration; nothing here reads a clock, a socket or a setting.
// Units: tokens. An absent optional means "not known", never zero.
#pragma once

#include "model/endpoint.h"
#include "model/feature.h"
#include "routing/capability.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::routing {

// Whether speculation keeps the target's output distribution. `declared` = the operator's word, not measured.
enum class Lossless : std::uint8_t { verified, declared, no, unknown };

// What does not change between reloads (or, for capabilities and context, between discoveries).
struct PoolFacts {
    std::string name{};
    std::string family{};
    model::EndpointSet endpoints{};
    bool streaming = true;
    Capabilities capabilities{};
    model::FeatureSet denied{};                     // configuration: capabilities.deny
    std::optional<std::uint64_t> context_tokens{};  // prompt and output together
    std::string region{};                           // "" = not told: satisfies no region demand
    std::vector<std::string> provides{};            // data policies
    bool speculative = false;
    Lossless lossless = Lossless::unknown;        // read only when speculative
    bool measured = false;                        // has a valid profile
};

// What may change between two requests.
struct PoolState {
    bool disabled = false;
    bool draining = false;
    bool drifted = false;     // and the pool's on_drift says that it must not serve
    bool unverified = false;  // a restarted speculative replica set that may not serve yet
    bool any_replica_usable = true;
    // At most so many tokens does the engine add to the prompt's own (PromptOverhead); nullopt = not known.
    std::optional<std::uint64_t> prompt_overhead_tokens = 0;
};

// One pool as one alias lists it.
struct AliasPool {
    std::uint32_t pool = 0;            // the owner's index, handed back in the verdict
    const PoolFacts* facts = nullptr;  // not null; outlives the call
    PoolState state{};
    bool baseline = false;
    bool admitted = false;  // `admitted: true`, promoted, or an arm of the rollout that runs
};

struct RequestFacts {
    model::Endpoint endpoint = model::Endpoint::chat_completions;
    bool stream = false;
    model::FeatureSet features{};
    std::optional<std::uint64_t> prompt_tokens_at_least{};  // an exact count or a true lower bound
    // Without what a pool's engine adds. Absent with media parts, server-side state, or a template of the request's
    // own.
    std::optional<std::uint64_t> prompt_tokens_at_most{};
    std::optional<std::uint64_t> max_tokens{};  // output asked for
};

// Where data may go, as an alias or a tenant demands. Empty = no demand.
struct PolicyFacts {
    std::vector<std::string> regions{};  // any of them
    std::vector<std::string> data_policies{};  // all of them
};

struct ContractFacts {
    std::string family{};
    model::FeatureSet promised{};  // the alias's `features`
    std::optional<std::uint64_t> context_tokens{};
    bool require_lossless = false;
    bool allow_unmeasured = true;
    PolicyFacts policy{};
};

}  // namespace weir::routing
