#include "bench/samples.h"

#include <algorithm>
#include <cmath>

namespace weir::bench {

base::Nanoseconds Samples::percentile(double percent) {
    if (samples_.empty()) return base::Nanoseconds{0};
    const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(samples_.size())));
    const auto index = std::clamp<std::size_t>(rank, 1, samples_.size()) - 1;
    const auto nth = samples_.begin() + static_cast<std::ptrdiff_t>(index);
    std::ranges::nth_element(samples_, nth);
    return *nth;
}

}  // namespace weir::bench
