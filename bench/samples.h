// Samples: durations of one measurement, and their percentiles (nearest rank). A value. Units: nanoseconds.
#pragma once

#include "base/time.h"

#include <cstddef>
#include <vector>

namespace weir::bench {

class Samples {
public:
    void add(base::Nanoseconds sample) { samples_.push_back(sample); }
    void clear() noexcept { samples_.clear(); }
    [[nodiscard]] std::size_t count() const noexcept { return samples_.size(); }
    // The smallest sample that at least `percent` of all do not exceed; 0 without samples. 0 < percent <= 100.
    [[nodiscard]] base::Nanoseconds percentile(double percent);

private:
    std::vector<base::Nanoseconds> samples_;
};

}  // namespace weir::bench
