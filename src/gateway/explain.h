// Explain: what would become of a request, stage by stage as the request path walks them, with nothing sent. It calls
// the request path's own functions, so it has no rules that could differ. Where replicas are drawn at random it gives
// probabilities. Pure, but for the replica slots, which are read as they are; any thread.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "gateway/inspect.h"
#include "gateway/refusal.h"
#include "gateway/worker.h"
#include "model/caller.h"
#include "model/record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::gateway {

struct Question {
    std::string body;  // the request's; of one that is over the limit, one byte more than that is enough
    model::Endpoint endpoint = model::Endpoint::chat_completions;
    std::string key{};  // NAME or TENANT/NAME; "" = the only key there is, or else nobody in particular
};

// The present, as far as it decides.
struct Present {
    base::WallTime now{};
    bool live = false;      // the slots are those of a gateway that probes and counts
    bool draining = false;
};

struct ExplainedReplica {
    std::string url;
    std::string_view state;  // "unknown", "healthy", "loading", "unhealthy"
    bool usable = true;
    std::uint32_t in_flight = 0;
    std::uint32_t limit = 0;  // 0 = none
    double share = 0;         // the probability that it gets the request
};

struct ExplainedPool {
    std::string pool;
    std::string_view arm;  // "baseline" or "candidate"
    std::uint32_t order = 1;
    std::string reason;  // why it is not eligible: "region_forbidden", "parameter_unsupported:min_p"; "" = it is
    std::string advice;  // what would change that
    double share = 0;
    std::vector<ExplainedReplica> replicas;
};

// How a replica is chosen among the eligible ones.
struct ExplainedChoice {
    std::uint32_t order = 1;
    bool over_limit = false;
    double baseline_share = 0;  // the probability that the arm is the baseline
    std::string why;            // "it is the only eligible pool"
};

struct Explanation {
    Tables tables;  // keeps what the texts below are views of
    std::string_view config_version;
    bool live = false;
    std::optional<model::Caller> caller;  // absent = nobody in particular: no tenant's policy applies
    model::Endpoint endpoint{};
    std::size_t body_bytes = 0;
    std::optional<Inspected> inspected;  // absent when the body cannot be read
    std::string alias;                   // "" = none was found
    std::string_view policy_outcome;
    std::optional<Refusal> refusal;
    std::string advice;              // on the refusal, for the operator; "" = the message says it all
    model::DecisionRecord decision;  // as the request's record would have it; score only where it is certain
    std::vector<ExplainedPool> pools;
    std::optional<ExplainedChoice> choice;
    std::vector<std::string> notes;
    [[nodiscard]] bool served() const noexcept { return !refusal.has_value(); }
};

// Errors: not_found (no such key), invalid_argument (the key's name is ambiguous).
[[nodiscard]] base::Result<Explanation> explain(const Tables& tables, Question question, const Present& present);

// A body that was not even read, because it is longer than a limit in bytes.
[[nodiscard]] Refusal body_too_large(std::optional<std::uint64_t> limit_bytes);

// docs/explain.md describes the members; they are stable.
[[nodiscard]] std::string to_json(const Explanation& explanation);

}  // namespace weir::gateway
