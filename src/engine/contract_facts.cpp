#include "engine/contract_facts.h"

#include "engine/adapter.h"
#include "engine/capabilities.h"

#include <fmt/format.h>

namespace weir::engine {

namespace {

std::string objection(const config::Pool& pool, model::Feature feature) {
    // The version is not known before the engine is asked; what excludes in the newest one is believed.
    const EngineIdentity identity{.engine = pool.engine, .version = std::nullopt, .method = pool.speculation.method};
    const auto [capability, evidence] = capability_of(identity, feature);
    const auto name = model::name_of(feature);
    const auto engine = config::name_of(pool.engine);
    const auto with =
        pool.speculation.active() ? fmt::format(" with {}", config::name_of(pool.speculation.method)) : std::string{};
    switch (capability) {
        case routing::Capability::ok:
        case routing::Capability::degraded: return {};
        case routing::Capability::rejected: return fmt::format("{} rejects {}{} ({})", engine, name, with, evidence);
        case routing::Capability::ignored: return fmt::format("{} ignores {}{} ({})", engine, name, with, evidence);
        case routing::Capability::wrong:
            return fmt::format("{} answers wrongly to {}{} ({})", engine, name, with, evidence);
        case routing::Capability::unknown:
            return fmt::format("it is not known whether {} honours {}{}", engine, name, with);
    }
    return {};
}

}  // namespace

config::EngineFacts contract_facts() {
    return {.endpoints = [](const config::Pool& pool) { return adapter_for(pool.engine).endpoints; },
            .objection = objection};
}

}  // namespace weir::engine
