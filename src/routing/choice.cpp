#include "routing/choice.h"

#include <algorithm>
#include <cstddef>

namespace weir::routing {

namespace {

bool is_open(const ReplicaCandidate& candidate) noexcept {
    return candidate.limit == 0 || candidate.in_flight < candidate.limit;
}

// The candidates that compete: those of one order, and below their limit unless nobody is.
struct Field {
    std::uint32_t order = 0;
    bool over_limit = false;
    std::size_t size = 0;
    [[nodiscard]] bool contains(const ReplicaCandidate& candidate) const noexcept {
        return candidate.order == order && (over_limit || is_open(candidate));
    }
};

Field field_of(std::span<const ReplicaCandidate> candidates) noexcept {
    Field field;
    field.over_limit = std::ranges::none_of(candidates, is_open);
    bool found = false;
    for (const ReplicaCandidate& candidate : candidates) {
        if (!field.over_limit && !is_open(candidate)) continue;
        if (found && candidate.order >= field.order) continue;
        field.order = candidate.order;
        found = true;
    }
    field.size = static_cast<std::size_t>(
        std::ranges::count_if(candidates, [&](const auto& each) { return field.contains(each); }));
    return field;
}

// Precondition: position < field.size.
const ReplicaCandidate& nth(std::span<const ReplicaCandidate> candidates, const Field& field,
                            std::size_t position) noexcept {
    std::size_t at = 0;
    for (;; ++at) {
        if (!field.contains(candidates[at])) continue;
        if (position == 0) return candidates[at];
        --position;
    }
}

Choice chosen(const ReplicaCandidate& candidate, std::string_view by, const Field& field) noexcept {
    return {.pool = candidate.pool,
            .replica = candidate.replica,
            .in_flight = candidate.in_flight,
            .chosen_by = by,
            .score = static_cast<double>(candidate.in_flight),
            .over_limit = field.over_limit};
}

}  // namespace

std::optional<Choice> choose(std::span<const ReplicaCandidate> candidates, const Dice& dice) noexcept {
    if (candidates.empty()) return std::nullopt;
    const Field field = field_of(candidates);
    if (field.size == 1) return chosen(nth(candidates, field, 0), "only_candidate", field);
    const std::size_t first = dice.first % field.size;
    std::size_t second = dice.second % (field.size - 1);  // any position but the first one's
    if (second >= first) ++second;
    const ReplicaCandidate& a = nth(candidates, field, first);
    const ReplicaCandidate& b = nth(candidates, field, second);
    if (a.in_flight == b.in_flight) return chosen((dice.tie & 1U) == 0 ? a : b, "power_of_two", field);
    return chosen(a.in_flight < b.in_flight ? a : b, "power_of_two", field);
}

}  // namespace weir::routing
