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

// What a prompt is to those who learn from what the engine counts.
struct PromptShape {
    routing::PromptKind kind{};
    std::uint64_t bytes = 0;
    bool usual = false;  // one prompt, which the engine makes of text in its usual way
};

PromptShape shape_of(const model::RequestRecord& record, const Inspected& inspected) {
    const auto& prompt = inspected.prompt;
    const bool media = inspected.features.contains(model::Feature::media);
    return {.kind = prompt_kind(*record.endpoint, inspected),
            .bytes = prompt.text_bytes,
            .usual = !prompt.reshaped && prompt.count == 1 && prompt.token_ids == 0 && !media};
}

[[gnu::noinline]] void learn_prompt(const model::RequestRecord& record, const PromptShape& prompt,
                                    routing::PromptOverhead& prompts) {
    if (!record.prompt_tokens || !prompt.usual) return;
    prompts.note(prompt.kind, {.tokens = *record.prompt_tokens, .bytes = prompt.bytes});
}

}  // namespace

std::optional<routing::Choice> Request::choose() {
    const auto candidates = candidates_of(*snapshot_, unsent_->selection, unsent_->tried);
    return routing::choose(candidates,
                           {.first = services_.random(), .second = services_.random(), .tie = services_.random()});
}

// What the attempts at one replica share.
struct Request::Try {
    routing::InFlight lease;
    AttemptPlan plan;
    std::optional<Attempt> attempt;  // the present one
};

io::Task<void> Request::dispatch() {
    AttemptResult last{.outcome = model::AttemptOutcome::failed, .answered = false, .refusal = nullptr};
    const PromptShape prompt = shape_of(settlement_->record, unsent_->inspected);
    while (const auto attempted = next_try()) {
        bool again = true;  // a reused connection that died costs nothing: once more, on a fresh one
        while (again) {
            auto attempt = begin_attempt(*attempted).run();
            last = co_await std::move(attempt);
            settlement_->attempt_ended(last.outcome, base::monotonic_now());
            again = last.outcome == model::AttemptOutcome::stale_connection && !attempted->plan.fresh_connection;
            attempted->plan.fresh_connection = true;
        }
        if (last.outcome == model::AttemptOutcome::ok)
            learn_prompt(settlement_->record, prompt, *attempted->plan.pool->prompts);
        if (last.outcome == model::AttemptOutcome::client_closed)
            co_return settlement_->client_closed(sink_.begun() ? 200 : 0);
        if (last.answered) co_return;
        if (!another_may_help(last)) break;
    }
    auto refusing = refuse_unanswered(std::move(last));
    co_await std::move(refusing);
}

io::Task<void> Request::refuse_unanswered(AttemptResult last) {
    if (attempts_ == 0) return refuse(boxed(no_replica_left(*unsent_->selection.alias)));
    const bool rejected = last.outcome == model::AttemptOutcome::rejected;
    return refuse(std::move(last.refusal), rejected ? Outcome::refused : Outcome::upstream_failed);
}

std::unique_ptr<Request::Try> Request::next_try() {
    if (unsent_->tried.size() >= unsent_->most_tries) return nullptr;
    const auto choice = choose();
    if (!choice) return nullptr;
    unsent_->most_tries = std::max(unsent_->most_tries, snapshot_->pools[choice->pool].config->retries.attempts);
    return prepare(*choice);
}

void Request::note_choice(const AliasMember& member, const routing::Choice& choice) {
    const auto& pool = snapshot_->pools[choice.pool];
    auto& record = settlement_->record;
    record.pool = pool.config->name;
    record.replica = pool.replicas[choice.replica].url;
    record.region = pool.config->region;
    record.assigned_arm = member.arm();
    record.decision.chosen_by = choice.chosen_by;
    record.decision.score = choice.score;
    engine_version_ = services_.engine_version ? services_.engine_version(record.pool, record.replica) : "";
    record.engine_version = engine_version_;
}

std::unique_ptr<Request::Try> Request::prepare(const routing::Choice& choice) {
    const auto& inspected = unsent_->inspected;
    const Alias& alias = *unsent_->selection.alias;
    const auto& pool = snapshot_->pools[choice.pool];
    const auto& replica = pool.replicas[choice.replica];
    const auto member = std::ranges::find(alias.members, choice.pool, &AliasMember::pool);
    auto& record = settlement_->record;
    note_choice(*member, choice);
    unsent_->tried.push_back(replica.slot.get());
    unsent_->upstream_body.emplace(unsent_->body, inspected, member->served_model_json,
                                   pool.adapter->needs_include_usage);
    auto made = std::make_unique<Try>();
    made->lease = replica.slot->acquire();
    record.decision.inflight_at_dispatch = made->lease.before();
    const bool debug = record.caller.permissions.contains(model::Permission::debug);
    if (debug)
        unsent_->decision = decision_text(record.decision) + context_note(unsent_->selection.eligibility, choice.pool);
    auto allowed = alias.config->client_timeout;
    if (unsent_->client_timeout) allowed = std::min(allowed, *unsent_->client_timeout);
    made->plan = {.pool = &pool,
                  .replica = &replica,
                  .alias = &alias,
                  .unsent = &unsent_,
                  .hide_usage_event = unsent_->upstream_body->added_usage(),
                  .choices = inspected.choices,
                  .stream = inspected.stream,
                  .debug = debug,
                  .fresh_connection = false,
                  .total_deadline = settlement_->moments.last_request_byte + allowed,
                  .request_id = id(),
                  .response_limit_bytes = snapshot_->config.server.limits.response_body_bytes};
    sink_.finish_by(made->plan.total_deadline);
    return made;
}

Attempt& Request::begin_attempt(Try& attempted) {
    auto& plan = attempted.plan;
    std::string engine_request_id;
    engine_request_id.reserve(id_.size() + 12);
    engine_request_id.append(id()).append("-").append(std::to_string(++attempts_));
    const auto& forwarded = unsent_->forwarded;
    const std::string span = forwarded.trace ? fmt::format("{:016x}", services_.random() | 1U) : "";
    unsent_->head = upstream_head({.path = path_,
                                   .authority = plan.replica->origin.authority,
                                   .credential = plan.pool->config->credential.reveal(),
                                   .request_id = engine_request_id,
                                   .span_id = span,
                                   .stream = plan.stream,
                                   .body_bytes = unsent_->upstream_body->bytes()},
                                  forwarded);
    settlement_->record.attempts.push_back({.pool = plan.pool->config->name,
                                            .replica = plan.replica->url,
                                            .engine_request_id = std::move(engine_request_id),
                                            .outcome = model::AttemptOutcome::failed,
                                            .duration_ms = 0,
                                            .prompt_tokens = std::nullopt,
                                            .completion_tokens = std::nullopt});
    return attempted.attempt.emplace(services_, *settlement_, source_, sink_, plan);
}

}  // namespace weir::gateway
