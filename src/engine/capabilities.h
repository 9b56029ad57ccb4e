// What an engine does with a request feature, by (family, version, speculation method). A table with its evidence;
// pure. Without speculation standard features are ok; with it, what the table does not say is unknown. Source:
// facts/engines.md section 3. Engines move: a live probe overrules this table.
#pragma once

#include "config/pool.h"
#include "engine/version.h"
#include "model/feature.h"
#include "routing/capability.h"

#include <optional>
#include <string_view>

namespace weir::engine {

struct EngineIdentity {
    config::Engine engine{};
    std::optional<Version>
        version;  // nullopt = not known: only what holds in every version, or excludes in the newest, is used
    config::SpeculationMethod method = config::SpeculationMethod::none;
};

struct CapabilityEvidence {
    routing::Capability capability{};
    std::string_view evidence;  // where it is known from; "" = default. Static storage
};

[[nodiscard]] CapabilityEvidence capability_of(const EngineIdentity& identity, model::Feature feature) noexcept;
[[nodiscard]] routing::Capabilities capabilities_of(const EngineIdentity& identity) noexcept;

}  // namespace weir::engine
