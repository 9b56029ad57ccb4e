#include "sim/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace weir::sim {

Histogram::Histogram(std::vector<double> bounds) : bounds_{std::move(bounds)}, counts_(bounds_.size() + 1) {}

void Histogram::observe(double value) noexcept {
    const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
    ++counts_[static_cast<std::size_t>(bucket)];
    sum_ += value;
    ++count_;
}

void Histogram::write(std::string& out, std::string_view name, std::string_view labels) const {
    auto to = std::back_inserter(out);
    std::uint64_t up_to_here = 0;
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
        up_to_here += counts_[i];
        fmt::format_to(to, "{}_bucket{{{},le=\"{:#}\"}} {}.0\n", name, labels, bounds_[i], up_to_here);
    }
    fmt::format_to(to, "{}_bucket{{{},le=\"+Inf\"}} {}.0\n", name, labels, count_);
    fmt::format_to(to, "{}_count{{{}}} {}.0\n{}_sum{{{}}} {:#}\n", name, labels, count_, name, labels, sum_);
}

}  // namespace weir::sim
