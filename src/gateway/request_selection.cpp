// The stages that choose: alias, policy and eligibility, replica.
#include "gateway/request.h"
#include "gateway/selection_message.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::gateway {

using model::Reason;

Request::Stage<const Alias*> Request::resolve(Settlement& settlement, const Inspected& inspected,
                                              model::Endpoint endpoint) const {
    const Alias* alias = snapshot_->find_alias(inspected.model);
    // An alias the caller may not use looks like one that does not exist.
    if (alias == nullptr || !snapshot_->tenants[entry_->tenant].config->may_use(alias->config->name))
        return std::unexpected{Refusal{.reason = Reason::model_not_found,
                                       .message = "There is no such model for your key; see GET /v1/models.",
                                       .param = "model"}};
    settlement.record.alias = alias->config->name;
    if (!alias->config->endpoints.contains(endpoint))
        return std::unexpected{
            Refusal{.reason = Reason::endpoint_not_supported,
                    .message = fmt::format("'{}' does not offer {}.", alias->config->name, model::path_of(endpoint)),
                    .param = "model"}};
    if (inspected.stream && !alias->config->streaming)
        return std::unexpected{
            Refusal{.reason = Reason::unsupported_parameter,
                    .message = fmt::format("'{}' does not stream; leave 'stream' out.", alias->config->name),
                    .param = "stream"}};
    return alias;
}

Request::Stage<routing::Eligibility> Request::judge(Settlement& settlement, const Alias& alias,
                                                    const Inspected& inspected, model::Endpoint endpoint) const {
    routing::RequestFacts facts{.endpoint = endpoint,
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
    const auto kind = prompt_kind(endpoint, inspected);
    std::vector<routing::AliasPool> pools;
    pools.reserve(alias.members.size());
    for (const auto& member : alias.members) {
        const auto& pool = snapshot_->pools[member.pool];
        pools.push_back({.pool = member.pool,
                         .facts = &pool.facts,
                         .state = {.any_replica_usable = pool.any_replica_usable(),
                                   .prompt_overhead_tokens = pool.prompts->at_most(kind)},
                         .baseline = member.baseline,
                         .admitted = member.admitted});
    }
    auto eligibility = routing::judge(pools, facts, alias.contract, snapshot_->tenants[entry_->tenant].policy);
    auto& record = settlement.record;
    for (const auto& verdict : eligibility.verdicts) {
        const auto& name = snapshot_->pools[verdict.pool].config->name;
        if (verdict.eligible())
            record.decision.eligible.push_back(name);
        else
            record.decision.excluded.push_back(
                {.pool = name, .reason = *verdict.reason, .parameter = verdict.parameter});
    }
    if (eligibility.any()) {
        record.policy_outcome = "allowed";
        return eligibility;
    }
    const auto refusal = routing::refusal_of(eligibility);
    const bool policy =
        refusal.reason == Reason::region_not_allowed || refusal.reason == Reason::data_policy_not_allowed;
    record.policy_outcome = policy ? model::name_of(refusal.reason) : "allowed";
    return std::unexpected{Refusal{
        .reason = refusal.reason, .message = refusal_message(refusal, alias), .param = std::string{refusal.parameter}}};
}

std::optional<routing::Choice> Request::choose(const Alias& alias, const routing::Eligibility& eligibility) {
    std::vector<routing::ReplicaCandidate> candidates;
    for (std::size_t i = 0; i < alias.members.size(); ++i) {
        if (!eligibility.verdicts[i].eligible()) continue;
        const auto& member = alias.members[i];
        const auto& pool = snapshot_->pools[member.pool];
        for (std::uint32_t at = 0; at < pool.replicas.size(); ++at) {
            const auto& slot = *pool.replicas[at].slot;
            if (!slot.usable() || std::ranges::find(tried_, &slot) != tried_.end()) continue;
            candidates.push_back({.pool = member.pool,
                                  .replica = at,
                                  .order = member.order,
                                  .in_flight = slot.in_flight(),
                                  .limit = pool.config->max_concurrency_per_replica.value_or(0)});
        }
    }
    return routing::choose(candidates,
                           {.first = services_.random(), .second = services_.random(), .tie = services_.random()});
}

}  // namespace weir::gateway
