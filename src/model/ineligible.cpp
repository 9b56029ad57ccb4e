#include "model/ineligible.h"

#include <fmt/format.h>

namespace weir::model {

std::string_view name_of(Ineligible reason) noexcept {
    switch (reason) {
        case Ineligible::alias_mismatch: return "alias_mismatch";
        case Ineligible::disabled: return "disabled";
        case Ineligible::endpoint_unsupported: return "endpoint_unsupported";
        case Ineligible::streaming_unsupported: return "streaming_unsupported";
        case Ineligible::parameter_unsupported: return "parameter_unsupported";
        case Ineligible::parameter_unreliable: return "parameter_unreliable";
        case Ineligible::context_exceeded: return "context_exceeded";
        case Ineligible::region_forbidden: return "region_forbidden";
        case Ineligible::data_policy_forbidden: return "data_policy_forbidden";
        case Ineligible::lossless_required: return "lossless_required";
        case Ineligible::engine_drifted: return "engine_drifted";
        case Ineligible::unverified: return "unverified";
        case Ineligible::unmeasured: return "unmeasured";
        case Ineligible::rollout_excluded: return "rollout_excluded";
        case Ineligible::draining: return "draining";
        case Ineligible::all_replicas_unhealthy: return "all_replicas_unhealthy";
    }
    return "other";
}

std::string text_of(Ineligible reason, std::string_view parameter) {
    std::string text{name_of(reason)};
    if (!parameter.empty()) text.append(":").append(parameter);
    return text;
}

namespace {

// {alias}, {pool}, {tenant} and {parameter} are filled in.
std::string_view advice_text(Ineligible reason) noexcept {
    switch (reason) {
        case Ineligible::alias_mismatch:
            return "Its model family is not the alias's: make pools.{pool}.family and aliases.{alias}.family agree, or "
                   "take it out of aliases.{alias}.pools.";
        case Ineligible::disabled: return "An operator disabled it; 'weir pool enable {pool}' brings it back.";
        case Ineligible::endpoint_unsupported:
            return "If its engine serves the endpoint, add it to pools.{pool}.capabilities.endpoints.";
        case Ineligible::streaming_unsupported:
            return "Leave 'stream' out of the request or, if its engine can stream, set "
                   "pools.{pool}.capabilities.streaming to true.";
        case Ineligible::parameter_unsupported:
            return "Leave '{parameter}' out of the request; only if the engine honours it and "
                   "pools.{pool}.capabilities.deny names it, take it from there.";
        case Ineligible::parameter_unreliable:
            return "Leave '{parameter}' out of the request: the engine of this pool would ignore it or answer wrongly, "
                   "or is not known to honour it.";
        case Ineligible::context_exceeded:
            return "Shorten the prompt or ask for fewer tokens; the smaller of pools.{pool}.capabilities.context and "
                   "aliases.{alias}.context is the limit.";
        case Ineligible::region_forbidden:
            return "pools.{pool}.region must be among aliases.{alias}.regions and among tenants.{tenant}.regions, "
                   "where "
                   "they name any; widen them only if the data may go there.";
        case Ineligible::data_policy_forbidden:
            return "If it keeps them, list in pools.{pool}.provides what aliases.{alias}.requires_data_policies and "
                   "tenants.{tenant}.requires_data_policies name.";
        case Ineligible::lossless_required:
            return "Verify its speculation and state pools.{pool}.speculation.lossless, or set "
                   "aliases.{alias}.require_lossless to false.";
        case Ineligible::unmeasured:
            return "Measure it and name the profile in pools.{pool}.profiles, or set aliases.{alias}.allow_unmeasured "
                   "to true.";
        case Ineligible::rollout_excluded:
            return "It speculates, and no rollout lets it serve: start one, or write admitted: true for it in "
                   "aliases.{alias}.pools.";
        case Ineligible::engine_drifted:
            return "Its engine is not what pools.{pool} says: correct the one or the other, or see "
                   "pools.{pool}.on_drift.";
        case Ineligible::unverified:
            return "Its engine restarted and is not verified yet; it serves again when the check has passed.";
        case Ineligible::draining: return "It is being drained; 'weir pool enable {pool}' ends that.";
        case Ineligible::all_replicas_unhealthy:
            return "None of its replicas passes its health checks: start the engines, or correct "
                   "pools.{pool}.replicas.";
    }
    return "";
}

}  // namespace

std::string advice_on(Ineligible reason, const AdviceSubject& subject) {
    return fmt::format(fmt::runtime(advice_text(reason)), fmt::arg("alias", subject.alias),
                       fmt::arg("pool", subject.pool),
                       fmt::arg("tenant", subject.tenant.empty() ? "TENANT" : subject.tenant),
                       fmt::arg("parameter", subject.parameter));
}

}  // namespace weir::model
