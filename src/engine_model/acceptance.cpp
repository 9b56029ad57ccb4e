#include "engine_model/acceptance.h"

#include <algorithm>

namespace weir::engine_model {

Acceptance::Acceptance(const Speculation& speculation, std::uint64_t seed)
    : random_{seed}, rates_{speculation.position_acceptance} {
    // One draw moves every position the same way. The move keeps each rate's mean, stays in 0..1 and keeps the order,
    // because r + c * min(r, 1 - r) rises with r for any |c| <= 1.
    const double move = speculation.spread * (2 * random_.unit() - 1);
    for (double& rate : rates_)
        rate += move * std::min(rate, 1 - rate);
}

int Acceptance::draw(int drafted) noexcept {
    // The rates are cumulative, so one uniform number decides all positions at once: P(more than i accepted) = rate i.
    const double luck = random_.unit();
    int accepted = 0;
    while (accepted < drafted && luck < rates_[static_cast<std::size_t>(accepted)])
        ++accepted;
    return accepted;
}

}  // namespace weir::engine_model
