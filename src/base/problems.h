// Problems: everything wrong with one file, collected so that a person sees all of it at once.
// Invariant: at most max_problems are kept; more are counted in dropped(). Lines and columns are 1-based, 0 = not
// known. Messages never contain secrets. Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace weir::base {

struct Problem {
    std::string file;
    int line = 0;
    int column = 0;
    std::string path;  // "pools.chat.target.model"; "" = the file as a whole
    std::string message;
    friend bool operator==(const Problem&, const Problem&) = default;
};

// "FILE:LINE:COL: path.to.key: message"; parts that are not known are left out.
[[nodiscard]] std::string format(const Problem& problem);

class Problems {
public:
    static constexpr std::size_t max_problems = 1000;

    void add(Problem problem);
    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
    // How many problems were not kept because there were too many.
    [[nodiscard]] std::size_t dropped() const noexcept { return dropped_; }
    // In the order of their position in the file; equal positions keep the order of arrival.
    [[nodiscard]] const std::vector<Problem>& sorted() const noexcept { return list_; }
    // One line each, sorted, every line ended by a newline.
    [[nodiscard]] std::string format() const;

private:
    std::vector<Problem> list_;  // always sorted
    std::size_t dropped_ = 0;
};

}  // namespace weir::base
