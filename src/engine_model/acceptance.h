// Acceptance: how many drafts of one request survive each verify step. Every request has rates of its own, drawn once
// around the engine's, so some are lucky throughout and some are not, as in real traffic.
// Invariant: the rates never rise with the position. The same seed gives the same draws. Not thread-safe.
#pragma once

#include "base/random.h"
#include "engine_model/parameters.h"

#include <cstdint>
#include <vector>

namespace weir::engine_model {

class Acceptance {
public:
    Acceptance(const Speculation& speculation, std::uint64_t seed);

    // How many of the first `drafted` positions are accepted, 0..drafted; drafted <= k.
    [[nodiscard]] int draw(int drafted) noexcept;
    [[nodiscard]] const std::vector<double>& rates() const noexcept { return rates_; }

private:
    base::Random random_;
    std::vector<double> rates_;
};

}  // namespace weir::engine_model
