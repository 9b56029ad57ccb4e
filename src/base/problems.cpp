#include "base/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace weir::base {

std::string format(const Problem& problem) {
    std::string line = problem.file;
    if (problem.line > 0) line += fmt::format(":{}:{}", problem.line, problem.column);
    if (!problem.path.empty()) line += ": " + problem.path;
    return line + ": " + problem.message;
}

void Problems::add(Problem problem) {
    if (list_.size() >= max_problems) {
        ++dropped_;
        return;
    }
    constexpr auto position = [](const Problem& p) { return std::tie(p.line, p.column); };
    const auto after = std::ranges::upper_bound(list_, position(problem), {}, position);
    list_.insert(after, std::move(problem));
}

std::string Problems::format() const {
    std::string text;
    for (const auto& problem : sorted())
        text += base::format(problem) + "\n";
    if (dropped_ > 0) text += fmt::format("and {} more problems\n", dropped_);
    return text;
}

}  // namespace weir::base
