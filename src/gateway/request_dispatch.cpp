// The stages that do: attempts at replicas until one answers.
#include "gateway/request.h"
#include "gateway/told.h"

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

// For the header that callers with debug get: only what is not settled is worth saying.
std::string context_note(const routing::Eligibility& eligibility, std::uint32_t pool) {
    const auto verdict = std::ranges::find(eligibility.verdicts, pool, &routing::Verdict::pool);
    const bool settled = verdict == eligibility.verdicts.end() || verdict->context == routing::ContextFit::fits;
    return settled ? "" : "; context=undecided";
}

// What the engine counted, where it counted one prompt that it made of text in its usual way.
void learn_prompt(const model::RequestRecord& record, const Inspected& inspected, routing::PromptOverhead& prompts) {
    if (!record.prompt_tokens || !record.endpoint || inspected.prompt.reshaped || inspected.prompt.count != 1) return;
    if (inspected.prompt.token_ids > 0 || inspected.features.contains(model::Feature::media)) return;
    prompts.note(prompt_kind(*record.endpoint, inspected),
                 {.tokens = *record.prompt_tokens, .bytes = inspected.prompt.text_bytes});
}

}  // namespace

std::optional<routing::Choice> Request::choose(const Selection& selection) {
    const auto candidates = candidates_of(*snapshot_, selection, tried_);
    return routing::choose(candidates,
                           {.first = services_.random(), .second = services_.random(), .tie = services_.random()});
}

// What the attempts at one replica share; one allocation, so that the request's frame stays small.
struct Request::Try {
    Try(routing::InFlight taken, std::string_view body, const Inspected& inspected, const AliasMember& member,
        bool needs_include_usage)
        : lease{std::move(taken)}, request_body{body, inspected, member.served_model_json, needs_include_usage} {}

    routing::InFlight lease;
    UpstreamBody request_body;
    std::string decision;
    std::string request_head;
    AttemptPlan plan;
};

io::Task<void> Request::dispatch(Settlement& settlement, const Selection& selection, const Inspected& inspected) {
    AttemptResult last{.outcome = model::AttemptOutcome::failed, .answered = false, .refusal = nullptr};
    std::uint32_t budget = 1;
    for (std::uint32_t used = 0; used < budget; ++used) {
        const auto choice = choose(selection);
        if (!choice) {
            if (attempts_ == 0) last.refusal = boxed(no_replica_left(*selection.alias));
            break;
        }
        const auto& pool = snapshot_->pools[choice->pool];
        budget = std::max(budget, pool.config->retries.attempts);
        const auto attempted = prepare(settlement, selection, inspected, *choice);
        bool again = true;  // a reused connection that died costs nothing: once more, on a fresh one
        while (again) {
            const auto attempt = begin_attempt(settlement, *attempted);
            last = co_await attempt->run();
            settlement.attempt_ended(last.outcome, base::monotonic_now());
            again = last.outcome == model::AttemptOutcome::stale_connection && !attempted->plan.fresh_connection;
            attempted->plan.fresh_connection = true;
        }
        if (last.outcome == model::AttemptOutcome::ok) learn_prompt(settlement.record, inspected, *pool.prompts);
        if (last.outcome == model::AttemptOutcome::client_closed)
            co_return settlement.client_closed(sink_.begun() ? 200 : 0);
        if (last.answered) co_return;
        if (!another_may_help(last)) break;
    }
    const bool rejected = last.outcome == model::AttemptOutcome::rejected;
    co_await refuse(settlement, std::move(last.refusal),
                    rejected || attempts_ == 0 ? Outcome::refused : Outcome::upstream_failed);
}

void Request::note_choice(Settlement& settlement, const AliasMember& member, const routing::Choice& choice) {
    const auto& pool = snapshot_->pools[choice.pool];
    auto& record = settlement.record;
    record.pool = pool.config->name;
    record.replica = pool.replicas[choice.replica].url;
    record.region = pool.config->region;
    record.assigned_arm = member.arm();
    record.decision.chosen_by = choice.chosen_by;
    record.decision.score = choice.score;
    engine_version_ = services_.engine_version ? services_.engine_version(record.pool, record.replica) : "";
    record.engine_version = engine_version_;
}

std::unique_ptr<Request::Try> Request::prepare(Settlement& settlement, const Selection& selection,
                                               const Inspected& inspected, const routing::Choice& choice) {
    const Alias& alias = *selection.alias;
    const auto& pool = snapshot_->pools[choice.pool];
    const auto& replica = pool.replicas[choice.replica];
    const auto member = std::ranges::find(alias.members, choice.pool, &AliasMember::pool);
    auto& record = settlement.record;
    note_choice(settlement, *member, choice);
    tried_.push_back(replica.slot.get());
    auto made =
        std::make_unique<Try>(replica.slot->acquire(), body_, inspected, *member, pool.adapter->needs_include_usage);
    record.decision.inflight_at_dispatch = made->lease.before();
    const bool debug = record.caller.permissions.contains(model::Permission::debug);
    if (debug) made->decision = decision_text(record.decision) + context_note(selection.eligibility, choice.pool);
    auto allowed = alias.config->client_timeout;
    if (client_timeout_) allowed = std::min(allowed, *client_timeout_);
    made->plan = {.pool = &pool,
                  .replica = &replica,
                  .alias = &alias,
                  .request_head = {},
                  .request_body = &made->request_body,
                  .head_storage = &made->request_head,
                  .body_storage = &body_,
                  .hide_usage_event = made->request_body.added_usage(),
                  .choices = inspected.choices,
                  .stream = inspected.stream,
                  .debug = debug,
                  .fresh_connection = false,
                  .total_deadline = settlement.moments.last_request_byte + allowed,
                  .request_id = id(),
                  .response_limit_bytes = snapshot_->config.server.limits.response_body_bytes,
                  .decision = made->decision};
    sink_.finish_by(made->plan.total_deadline);
    return made;
}

std::unique_ptr<Attempt> Request::begin_attempt(Settlement& settlement, Try& attempted) {
    auto& plan = attempted.plan;
    std::string engine_request_id = std::string{id()}.append("-").append(std::to_string(++attempts_));
    const std::string span = forwarded_.trace ? fmt::format("{:016x}", services_.random() | 1U) : "";
    attempted.request_head = upstream_head({.path = path_,
                                            .authority = plan.replica->origin.authority,
                                            .credential = plan.pool->config->credential.reveal(),
                                            .request_id = engine_request_id,
                                            .span_id = span,
                                            .stream = plan.stream,
                                            .body_bytes = plan.request_body->bytes()},
                                           forwarded_);
    plan.request_head = attempted.request_head;
    settlement.record.attempts.push_back({.pool = plan.pool->config->name,
                                          .replica = plan.replica->url,
                                          .engine_request_id = std::move(engine_request_id),
                                          .outcome = model::AttemptOutcome::failed,
                                          .duration_ms = 0,
                                          .prompt_tokens = std::nullopt,
                                          .completion_tokens = std::nullopt});
    return std::make_unique<Attempt>(services_, settlement, source_, sink_, plan);
}

}  // namespace weir::gateway
