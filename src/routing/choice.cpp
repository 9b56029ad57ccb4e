#include "routing/choice.h"

#include <algorithm>
#include <cstddef>
#include <vector>

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

std::string_view rule_of(const Field& field) noexcept { return field.size == 1 ? "only_candidate" : "power_of_two"; }

Choice chosen(const ReplicaCandidate& candidate, const Field& field) noexcept {
    return {.pool = candidate.pool,
            .replica = candidate.replica,
            .in_flight = candidate.in_flight,
            .chosen_by = rule_of(field),
            .score = static_cast<double>(candidate.in_flight),
            .over_limit = field.over_limit};
}

}  // namespace

std::optional<Choice> choose(std::span<const ReplicaCandidate> candidates, const Dice& dice) noexcept {
    if (candidates.empty()) return std::nullopt;
    const Field field = field_of(candidates);
    if (field.size == 1) return chosen(nth(candidates, field, 0), field);
    const std::size_t first = dice.first % field.size;
    std::size_t second = dice.second % (field.size - 1);  // any position but the first one's
    if (second >= first) ++second;
    const ReplicaCandidate& a = nth(candidates, field, first);
    const ReplicaCandidate& b = nth(candidates, field, second);
    if (a.in_flight == b.in_flight) return chosen((dice.tie & 1U) == 0 ? a : b, field);
    return chosen(a.in_flight < b.in_flight ? a : b, field);
}

Odds odds(std::span<const ReplicaCandidate> candidates) {
    Odds odds{.shares = std::vector<double>(candidates.size()), .chosen_by = {}};
    if (candidates.empty()) return odds;
    const Field field = field_of(candidates);
    odds.chosen_by = rule_of(field);
    odds.order = field.order;
    odds.over_limit = field.over_limit;
    if (field.size == 1) {
        odds.shares[static_cast<std::size_t>(&nth(candidates, field, 0) - candidates.data())] = 1;
        return odds;
    }
    std::vector<std::uint32_t> loads;
    for (const ReplicaCandidate& each : candidates)
        if (field.contains(each)) loads.push_back(each.in_flight);
    std::ranges::sort(loads);
    const double pairs = static_cast<double>(field.size) * static_cast<double>(field.size - 1) / 2;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (!field.contains(candidates[i])) continue;
        const auto equal = std::ranges::equal_range(loads, candidates[i].in_flight);
        const auto busier = static_cast<double>(loads.end() - equal.end());
        odds.shares[i] = (busier + static_cast<double>(equal.size() - 1) / 2) / pairs;  // of the pairs that it wins
    }
    return odds;
}

}  // namespace weir::routing
