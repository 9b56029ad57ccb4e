// Choice: stage 2 of choosing. Which replica of the eligible pools gets the request. Pure: randomness is an argument.
// The lowest order that has a replica below its limit is used; within it the less busy of two random replicas wins
// (power of two choices, Mitzenmacher 2001), on this gateway's own in-flight requests, ties at random: no herding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace weir::routing {

// A usable replica of an eligible pool that this request has not tried yet.
struct ReplicaCandidate {
    std::uint32_t pool = 0;       // the owner's indices, handed back
    std::uint32_t replica = 0;
    std::uint32_t order = 1;      // of the pool within the alias; the lower first, equal ones are one set
    std::uint32_t in_flight = 0;
    std::uint32_t limit = 0;      // max_concurrency_per_replica; 0 = none
};

// Three independent uniform random numbers.
struct Dice {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::uint64_t tie = 0;
};

struct Choice {
    std::uint32_t pool = 0;
    std::uint32_t replica = 0;
    std::uint32_t in_flight = 0;  // on the chosen replica, this request not counted
    std::string_view chosen_by;   // "only_candidate" or "power_of_two"; static storage
    double score = 0;             // what was compared: lower is better (own in-flight)
    bool over_limit = false;  // every candidate is at its limit: the caller queues or refuses, or takes it knowingly
};

// What choose() would do over all dice: for explanations, not for the request path.
struct Odds {
    std::vector<double> shares;  // the probability of each candidate, in their order; they sum to 1
    std::string_view chosen_by;  // "" when there is no candidate
    std::uint32_t order = 0;     // of the candidates that compete
    bool over_limit = false;
};
[[nodiscard]] Odds odds(std::span<const ReplicaCandidate> candidates);

// nullopt when there is no candidate. With every candidate at its limit the lowest order is used and over_limit is set.
[[nodiscard]] std::optional<Choice> choose(std::span<const ReplicaCandidate> candidates, const Dice& dice) noexcept;

}  // namespace weir::routing
