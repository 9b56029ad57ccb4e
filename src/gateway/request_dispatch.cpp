// The stages that do: attempts at replicas until one answers.
#include "gateway/request.h"
#include "gateway/selection_message.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::gateway {

using model::Outcome;
using model::Reason;

namespace {

// Whether another replica could do better. A request that an engine turned down, and one whose time is over, is not
// repeated.
bool another_may_help(const AttemptResult& result) {
    switch (result.outcome) {
        case model::AttemptOutcome::ok:
        case model::AttemptOutcome::rejected:
        case model::AttemptOutcome::client_closed: return false;
        case model::AttemptOutcome::timeout:
            return result.refusal->reason == Reason::upstream_error;  // while connecting
        case model::AttemptOutcome::saturated:
        case model::AttemptOutcome::connect_failed:
        case model::AttemptOutcome::reset:
        case model::AttemptOutcome::failed:
        case model::AttemptOutcome::protocol:
        case model::AttemptOutcome::truncated:
        case model::AttemptOutcome::stale_connection: return true;
    }
    return false;
}

}  // namespace

io::Task<void> Request::dispatch(Settlement& settlement, const Alias& alias, const Inspected& inspected,
                                 const routing::Eligibility& eligibility) {
    AttemptResult last{
        .outcome = model::AttemptOutcome::failed,
        .refusal = Refusal{.reason = Reason::pools_unhealthy,
                           .message = refusal_message({.reason = Reason::pools_unhealthy, .parameter = {}}, alias)},
        .answered = false};
    std::uint32_t budget = 1;
    for (std::uint32_t used = 0; used < budget; ++used) {
        const auto choice = choose(alias, eligibility);
        if (!choice) break;
        budget = std::max(budget, snapshot_->pools[choice->pool].config->retries.attempts);
        last = co_await try_replica(settlement, alias, inspected, *choice);
        if (last.outcome == model::AttemptOutcome::client_closed)
            co_return settlement.client_closed(sink_.begun() ? 200 : 0);
        if (last.answered) co_return;
        if (!another_may_help(last)) break;
    }
    const bool rejected = last.outcome == model::AttemptOutcome::rejected;
    co_await refuse(settlement, *std::move(last.refusal),
                    rejected || attempts_ == 0 ? Outcome::refused : Outcome::upstream_failed);
}

void Request::note_choice(Settlement& settlement, const AliasMember& member, const routing::Choice& choice) {
    const auto& pool = snapshot_->pools[choice.pool];
    auto& record = settlement.record;
    record.pool = pool.config->name;
    record.replica = pool.replicas[choice.replica].url;
    record.region = pool.config->region;
    record.assigned_arm = member.baseline ? "baseline" : "candidate";
    record.decision.chosen_by = choice.chosen_by;
    record.decision.score = choice.score;
    record.engine_version = services_.engine_version ? services_.engine_version(record.pool, record.replica) : "";
}

io::Task<AttemptResult> Request::try_replica(Settlement& settlement, const Alias& alias, const Inspected& inspected,
                                             const routing::Choice& choice) {
    const auto& pool = snapshot_->pools[choice.pool];
    const auto& replica = pool.replicas[choice.replica];
    const auto member = std::ranges::find(alias.members, choice.pool, &AliasMember::pool);
    note_choice(settlement, *member, choice);
    tried_.push_back(replica.slot.get());
    const auto lease = replica.slot->acquire();
    settlement.record.decision.inflight_at_dispatch = lease.before();

    const UpstreamBody upstream_body{body_, inspected, member->served_model, pool.adapter->needs_include_usage};
    auto allowed = alias.config->client_timeout;
    if (client_timeout_) allowed = std::min(allowed, *client_timeout_);
    const std::string decision = decision_text(settlement.record.decision);
    AttemptPlan plan{.pool = &pool,
                     .replica = &replica,
                     .alias = &alias,
                     .request_head = {},
                     .request_body = &upstream_body.slices(),
                     .body_storage = &body_,
                     .hide_usage_event = upstream_body.added_usage(),
                     .choices = inspected.choices,
                     .stream = inspected.stream,
                     .debug = entry_->caller.permissions.contains(model::Permission::debug),
                     .fresh_connection = false,
                     .total_deadline = settlement.moments.last_request_byte + allowed,
                     .request_id = id_,
                     .response_limit_bytes = snapshot_->config.server.limits.response_body_bytes,
                     .decision = decision};
    auto result = co_await attempt(settlement, plan);
    if (result.outcome == model::AttemptOutcome::stale_connection) {
        plan.fresh_connection = true;
        result = co_await attempt(settlement, plan);
    }
    co_return result;
}

io::Task<AttemptResult> Request::attempt(Settlement& settlement, AttemptPlan plan) {
    const std::string engine_request_id = fmt::format("{}-{}", id_, ++attempts_);
    const std::string span = fmt::format("{:016x}", services_.random() | 1U);
    const std::string head = upstream_head({.path = model::path_of(*settlement.record.endpoint),
                                            .authority = plan.replica->origin.authority,
                                            .credential = plan.pool->config->credential.reveal(),
                                            .request_id = engine_request_id,
                                            .span_id = span,
                                            .stream = plan.stream,
                                            .body_bytes = total_bytes(*plan.request_body)},
                                           forwarded_);
    plan.request_head = head;
    settlement.record.attempts.push_back({.pool = plan.pool->config->name,
                                          .replica = plan.replica->url,
                                          .engine_request_id = engine_request_id,
                                          .outcome = model::AttemptOutcome::failed,
                                          .duration_ms = 0,
                                          .prompt_tokens = std::nullopt,
                                          .completion_tokens = std::nullopt});
    Attempt try_once{services_, settlement, source_, sink_, plan};
    auto result = co_await try_once.run();
    settlement.attempt_ended(result.outcome, base::monotonic_now());
    co_return result;
}

std::string Request::decision_text(const model::DecisionRecord& decision) const {
    std::string text = fmt::format("{}; in_flight={}", decision.chosen_by, decision.inflight_at_dispatch.value_or(0));
    for (const auto& excluded : decision.excluded)
        text += fmt::format("; {}={}", excluded.pool, model::name_of(excluded.reason));
    return text;
}

}  // namespace weir::gateway
