// Capability: what an engine does with one request feature. Source: evidence.md section 1, facts/engines.md section 3.
// Capabilities holds one value a feature and the bit masks that eligibility tests.
#pragma once

#include "model/feature.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace weir::routing {

enum class Capability : std::uint8_t {
    ok,
    rejected,  // the engine answers 4xx or does not start
    ignored,   // accepted and not applied: the dangerous class, together with `wrong`
    wrong,     // accepted, and the answer is not what was asked for
    degraded,  // right, but slower, not speculated, or with less information
    unknown,
};

[[nodiscard]] std::string_view name_of(Capability capability) noexcept;

class Capabilities {
public:
    Capabilities() = default;  // everything is ok
    [[nodiscard]] static Capabilities all(Capability capability) noexcept;
    void set(model::Feature feature, Capability capability) noexcept;
    [[nodiscard]] Capability of(model::Feature feature) const noexcept {
        return values_[static_cast<std::size_t>(feature)];
    }

    [[nodiscard]] model::FeatureSet rejected() const noexcept { return rejected_; }
    [[nodiscard]] model::FeatureSet unreliable() const noexcept { return unreliable_; }  // ignored or wrong
    [[nodiscard]] model::FeatureSet unknown() const noexcept { return unknown_; }

private:
    std::array<Capability, model::all_features.size()> values_{};
    model::FeatureSet rejected_;
    model::FeatureSet unreliable_;
    model::FeatureSet unknown_;
};

}  // namespace weir::routing
