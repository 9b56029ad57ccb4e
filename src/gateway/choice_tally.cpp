#include "gateway/choice_tally.h"

#include <algorithm>
#include <bit>

namespace weir::gateway {

void ChoiceTally::note(const Answer& answer) {
    seen_ |= answer.seen_choices;
    finished_ |= answer.finished_choices;
    for (const ChoiceMark& mark : answer.far_choices)
        note_far(mark);
}

void ChoiceTally::note_far(const ChoiceMark& mark) {
    const auto at = static_cast<std::size_t>(std::min(mark.index, limit) - 64);
    if (at >= far_.size()) far_.resize(at + 1, Mark::absent);
    if (far_[at] == Mark::absent) {
        far_[at] = Mark::seen;
        ++far_seen_;
    }
    if (mark.finished && far_[at] == Mark::seen) {
        far_[at] = Mark::finished;
        ++far_finished_;
    }
}

bool ChoiceTally::complete(std::uint64_t wanted) const noexcept {
    if (seen_ != finished_ || far_seen_ != far_finished_) return false;
    const auto finished = static_cast<std::uint64_t>(std::popcount(finished_)) + far_finished_;
    return finished >= std::clamp<std::uint64_t>(wanted, 1, limit);
}

}  // namespace weir::gateway
