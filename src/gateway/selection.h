// Selection: what becomes of an inspected request: its alias, the pools that can serve it and why the others cannot,
// the replicas that compete for it. The request path and `weir explain` both call these, so they cannot disagree.
// Pure, but for the replica slots, which are read as they are at the moment. Nothing outlives the snapshot.
#pragma once

#include "base/inline_vector.h"
#include "gateway/inspect.h"
#include "gateway/refusal.h"
#include "gateway/snapshot.h"
#include "model/record.h"
#include "routing/choice.h"
#include "routing/eligibility.h"

#include <optional>
#include <span>
#include <string_view>

namespace weir::gateway {

// What a request asks for; the inspection outlives the call.
struct Wanted {
    const Inspected& inspected;
    model::Endpoint endpoint{};
};

struct Selection {
    const Alias* alias = nullptr;  // as soon as the name is one that the tenant may use
    routing::Eligibility eligibility;
    std::string_view policy_outcome;  // "" before eligibility; "allowed", or the refusing reason
    BoxedRefusal refusal;             // absent = at least one pool is eligible
};

// The verdict on each pool goes into `decision` too, which is the record's.
[[nodiscard]] Selection select(const Snapshot& snapshot, const Tenant& tenant, const Wanted& wanted,
                               model::DecisionRecord& decision);

// The usable replicas of the eligible pools, but those that were tried.
using Candidates = base::InlineVector<routing::ReplicaCandidate, 8>;
[[nodiscard]] Candidates candidates_of(const Snapshot& snapshot, const Selection& selection,
                                       std::span<const routing::ReplicaSlot* const> tried);

[[nodiscard]] Refusal refusal_of(InspectError error);
// When candidates_of() finds none for the first attempt: the last usable replica went away meanwhile.
[[nodiscard]] Refusal no_replica_left(const Alias& alias);

}  // namespace weir::gateway
