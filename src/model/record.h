// RequestRecord: the ledger row and the access-log line, one per request that got past authentication.
// Invariant: what is not known is absent (nullopt or ""), never 0; prompt and completion text never enter.
// Units are in the names; times are milliseconds unless the name says otherwise. Source: contract.md section 6.
// Lifetime: most texts are views, of the request that is going on or of the bytes a record was decoded from.
#pragma once

#include "base/inline_vector.h"
#include "base/time.h"
#include "model/caller.h"
#include "model/endpoint.h"
#include "model/feature.h"
#include "model/ineligible.h"
#include "model/reason.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::model {

enum class Outcome : std::uint8_t { ok, refused, upstream_failed, truncated, client_closed, interrupted };
[[nodiscard]] std::string_view name_of(Outcome outcome) noexcept;

enum class UsageSource : std::uint8_t { none, engine, estimate };
[[nodiscard]] std::string_view name_of(UsageSource source) noexcept;

// What one attempt came to. `ok` = the answer was relayed to its end.
enum class AttemptOutcome : std::uint8_t {
    ok,
    rejected,          // the engine's own 4xx or 501
    saturated,         // 429 or 503
    connect_failed,
    reset,             // ended before its framing did
    failed,            // another 5xx, or an error event
    protocol,          // malformed answer
    timeout,
    truncated,
    client_closed,
    stale_connection,  // a reused connection that had died before any response byte; free to repeat
};
[[nodiscard]] std::string_view name_of(AttemptOutcome outcome) noexcept;

struct Exclusion {
    std::string_view pool;
    Ineligible reason{};
    std::string_view parameter;  // for parameter_unsupported and parameter_unreliable
};

struct DecisionRecord {
    base::InlineVector<std::string_view, 2> eligible;  // pools
    std::vector<Exclusion> excluded;
    std::string_view chosen_by;              // "only_candidate", "power_of_two"
    std::optional<double> score;
    std::optional<std::uint32_t> inflight_at_dispatch;  // own in-flight on the chosen replica, this request not counted
    bool cut = false;  // the record had no room for all pools and attempts
};

struct AttemptRecord {
    std::string_view pool;
    std::string_view replica;
    std::string engine_request_id;  // the id sent upstream
    AttemptOutcome outcome{};
    double duration_ms = 0;
    std::optional<std::uint64_t> prompt_tokens;
    std::optional<std::uint64_t> completion_tokens;
};

struct SpeculationRecord {
    std::optional<std::uint64_t> steps;
    std::optional<std::uint64_t> drafted;
    std::optional<std::uint64_t> accepted;
    std::optional<double> accepted_length;
    std::string_view source;  // "engine"; "" = not known
};

struct RequestRecord {
    std::string_view request_id;
    std::string_view client_request_id;
    std::string_view trace_id;
    base::WallTime time{};
    std::string_view config_version;
    Caller caller;
    std::string_view alias;
    std::optional<Endpoint> endpoint;
    bool stream = false;
    std::optional<double> client_timeout_ms;
    std::optional<std::uint64_t> max_tokens;
    FeatureSet features;
    std::string_view temperature_class;  // "greedy", "sampled"; "" = not told
    std::string_view pool;
    std::string_view replica;
    std::string_view region;
    std::string_view engine_version;
    std::string_view assigned_arm;  // "baseline" or "candidate"; "" when no pool was chosen
    DecisionRecord decision;
    std::vector<AttemptRecord> attempts;
    int status = 0;  // as sent; 499 if none was; 0 = not known (interrupted)
    Outcome outcome{};
    std::optional<Reason> reason;
    std::string_view policy_outcome;  // "allowed", or the refusing reason
    std::optional<std::uint64_t> prompt_bytes;
    std::optional<std::uint64_t> prompt_tokens;
    std::optional<std::uint64_t> cached_tokens;
    std::optional<std::uint64_t> completion_tokens;
    std::optional<std::uint64_t> reasoning_tokens;
    std::optional<std::uint64_t> delivered_tokens;
    UsageSource usage_source = UsageSource::none;
    std::string finish_reason;
    std::optional<double> queue_ms;
    std::optional<double> ttft_ms;
    std::optional<double> upstream_ttft_ms;
    std::optional<double> first_visible_ms;
    std::optional<double> tpot_ms;
    double duration_ms = 0;
    std::optional<double> gateway_ms;
    std::optional<std::uint64_t> events;  // content events relayed
    SpeculationRecord spec;
};

}  // namespace weir::model
