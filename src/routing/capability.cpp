#include "routing/capability.h"

namespace weir::routing {

std::string_view name_of(Capability capability) noexcept {
    switch (capability) {
        case Capability::ok: return "ok";
        case Capability::rejected: return "rejected";
        case Capability::ignored: return "ignored";
        case Capability::wrong: return "wrong";
        case Capability::degraded: return "degraded";
        case Capability::unknown: return "unknown";
    }
    return "unknown";
}

Capabilities Capabilities::all(Capability capability) noexcept {
    Capabilities made;
    for (const model::Feature feature : model::all_features)
        made.set(feature, capability);
    return made;
}

void Capabilities::set(model::Feature feature, Capability capability) noexcept {
    values_[static_cast<std::size_t>(feature)] = capability;
    rejected_ = unreliable_ = unknown_ = {};
    for (const model::Feature each : model::all_features) {
        switch (of(each)) {
            case Capability::ok:
            case Capability::degraded: break;
            case Capability::rejected: rejected_.add(each); break;
            case Capability::ignored:
            case Capability::wrong: unreliable_.add(each); break;
            case Capability::unknown: unknown_.add(each); break;
        }
    }
}

}  // namespace weir::routing
