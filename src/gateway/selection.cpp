#include "gateway/selection.h"

#include "gateway/selection_message.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::gateway {

namespace {

using model::Reason;

// What the alias's contract leaves out, whatever its pools can do.
BoxedRefusal refused_by_contract(const Alias& alias, const Wanted& wanted) {
    const auto& contract = *alias.config;
    if (!contract.endpoints.contains(wanted.endpoint))
        return boxed({.reason = Reason::endpoint_not_supported,
                      .message = fmt::format("'{}' does not offer {}.", contract.name, path_of(wanted.endpoint)),
                      .param = "model"});
    if (wanted.inspected.stream && !contract.streaming)
        return boxed({.reason = Reason::unsupported_parameter,
                      .message = fmt::format("'{}' does not stream; leave 'stream' out.", contract.name),
                      .param = "stream"});
    return nullptr;
}

routing::RequestFacts facts_of(const Wanted& wanted) {
    const auto& inspected = wanted.inspected;
    routing::RequestFacts facts{.endpoint = wanted.endpoint,
                                .stream = inspected.stream,
                                .features = inspected.features,
                                .prompt_tokens_at_least = 1,
                                .prompt_tokens_at_most = std::nullopt,
                                .max_tokens = inspected.max_tokens};
    // What shortens a prompt at the engine takes the lower bound away too.
    if (!inspected.prompt.reshaped)
        facts.prompt_tokens_at_least = std::max<std::uint64_t>(1, inspected.prompt.token_ids);
    if (!inspected.prompt.reshaped && !inspected.features.contains(model::Feature::media))
        facts.prompt_tokens_at_most = std::max(inspected.prompt.text_bytes, inspected.prompt.token_ids);
    return facts;
}

// The one place that says in which state a pool is.
routing::PoolState state_of(const Pool& pool, routing::PromptKind kind) {
    return {.any_replica_usable = pool.any_replica_usable(), .prompt_overhead_tokens = pool.prompts->at_most(kind)};
}

routing::Eligibility judge(const Snapshot& snapshot, const Alias& alias, const Tenant& tenant, const Wanted& wanted) {
    const auto kind = prompt_kind(wanted.endpoint, wanted.inspected);
    base::InlineVector<routing::AliasPool, 4> pools;
    for (const auto& member : alias.members) {
        const auto& pool = snapshot.pools[member.pool];
        pools.push_back({.pool = member.pool,
                         .facts = &pool.facts,
                         .state = state_of(pool, kind),
                         .baseline = member.baseline,
                         .admitted = member.admitted});
    }
    return routing::judge(pools, facts_of(wanted), alias.contract, tenant.policy);
}

void note(const Snapshot& snapshot, const routing::Eligibility& eligibility, model::DecisionRecord& decision) {
    for (const auto& verdict : eligibility.verdicts) {
        const auto& name = snapshot.pools[verdict.pool].config->name;
        if (verdict.eligible())
            decision.eligible.push_back(name);
        else
            decision.excluded.push_back({.pool = name, .reason = *verdict.reason, .parameter = verdict.parameter});
    }
}

}  // namespace

Selection select(const Snapshot& snapshot, const Tenant& tenant, const Wanted& wanted,
                 model::DecisionRecord& decision) {
    Selection selection;
    const Alias* alias = snapshot.find_alias(wanted.inspected.model);
    // An alias the caller may not use looks like one that does not exist.
    if (alias == nullptr || !tenant.config->may_use(alias->config->name)) {
        selection.refusal = boxed({.reason = Reason::model_not_found,
                                   .message = "There is no such model for your key; see GET /v1/models.",
                                   .param = "model"});
        return selection;
    }
    selection.alias = alias;
    selection.refusal = refused_by_contract(*alias, wanted);
    if (selection.refusal) return selection;
    selection.eligibility = judge(snapshot, *alias, tenant, wanted);
    note(snapshot, selection.eligibility, decision);
    selection.policy_outcome = "allowed";
    if (selection.eligibility.any()) return selection;
    const auto refused = routing::refusal_of(selection.eligibility);
    if (refused.reason == Reason::region_not_allowed || refused.reason == Reason::data_policy_not_allowed)
        selection.policy_outcome = model::name_of(refused.reason);
    selection.refusal = boxed({.reason = refused.reason,
                               .message = refusal_message(refused, *alias),
                               .param = std::string{refused.parameter}});
    return selection;
}

Candidates candidates_of(const Snapshot& snapshot, const Selection& selection,
                         std::span<const routing::ReplicaSlot* const> tried) {
    Candidates candidates;
    const auto& members = selection.alias->members;
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (!selection.eligibility.verdicts[i].eligible()) continue;
        const auto& pool = snapshot.pools[members[i].pool];
        for (std::uint32_t at = 0; at < pool.replicas.size(); ++at) {
            const auto* slot = pool.replicas[at].slot.get();
            if (!slot->usable() || std::ranges::find(tried, slot) != tried.end()) continue;
            candidates.push_back({.pool = members[i].pool,
                                  .replica = at,
                                  .order = members[i].order,
                                  .in_flight = slot->in_flight(),
                                  .limit = pool.config->max_concurrency_per_replica.value_or(0)});
        }
    }
    return candidates;
}

Refusal refusal_of(InspectError error) {
    return {.reason = error.reason, .message = std::move(error.message), .param = std::move(error.param)};
}

Refusal no_replica_left(const Alias& alias) {
    return {.reason = Reason::pools_unhealthy,
            .message = refusal_message({.reason = Reason::pools_unhealthy, .parameter = {}}, alias)};
}

}  // namespace weir::gateway
