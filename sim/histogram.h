// Histogram: counts of observations in fixed buckets, as Prometheus wants them. Invariant: bounds rise.
// One thread. Units are the caller's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::sim {

class Histogram {
public:
    explicit Histogram(std::vector<double> bounds);
    void observe(double value) noexcept;
    // _bucket, _sum and _count lines; `labels` without braces, not empty.
    void write(std::string& out, std::string_view name, std::string_view labels) const;

private:
    std::vector<double> bounds_;
    std::vector<std::uint64_t> counts_;  // one more than bounds: the last is +Inf
    double sum_ = 0;
    std::uint64_t count_ = 0;
};

}  // namespace weir::sim
