#include "gateway/explain.h"

#include "base/text.h"
#include "base/units.h"
#include "gateway/named_key.h"
#include "gateway/route.h"
#include "gateway/selection.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::gateway {

namespace {

using model::Reason;

constexpr std::size_t padding_bytes = 64;  // what the inspector may read beyond the body

// Nobody in particular may use every alias, and no policy of a tenant applies.
const Tenant& no_tenant() {
    static const config::Tenant config;
    static const Tenant tenant{.config = &config, .policy = {}};
    return tenant;
}

class Explainer {
public:
    Explainer(const Tables& tables, const Question& question, const Present& present)
        : snapshot_{*tables.snapshot}, keys_{*tables.keys}, question_{question}, present_{present} {
        out_.tables = tables;
        out_.config_version = snapshot_.config.version_hash;
        out_.live = present.live;
        out_.endpoint = question.endpoint;
        out_.body_bytes = question.body.size();
    }

    base::Result<Explanation> run() {
        if (auto found = find_caller(); !found) return std::unexpected{std::move(found).error()};
        walk();
        return std::move(out_);
    }

private:
    base::Status find_caller() {
        if (!question_.key.empty()) {
            auto found = find_named_key(keys_, question_.key, present_.now);
            if (!found) return std::unexpected{std::move(found).error()};
            key_ = *std::move(found);
        } else {
            key_ = only_key(keys_, present_.now);
        }
        if (key_)
            out_.caller = key_->entry.caller;
        else
            out_.notes.emplace_back(
                "No key is named, and there is not just one: no tenant's regions, data policies and aliases are "
                "applied. Name one with --key.");
        return {};
    }

    // The stages of the request path, in its order.
    void walk() {
        if (key_ && !key_->alive)
            return refuse(invalid_api_key(), "The key has expired: give it a later day, or make another.");
        if (key_ && !key_->usable)
            return refuse(invalid_api_key(),
                          "The configuration does not know the tenant, team or application that the key belongs to.");
        if (present_.draining) return refuse(shutting_down(), "Ask another gateway, or start this one again.");
        http::RequestHead head;
        head.method = "POST";
        head.path = model::path_of(question_.endpoint);
        if (auto operation = route(head); !operation)
            return refuse(std::move(operation).error(), "This version of Weir does not serve this endpoint.");
        const auto limit = snapshot_.config.server.limits.body_bytes;
        if (question_.body.size() > limit)
            return refuse(body_too_large(limit), "Raise server.limits.body, or send less.");
        Inspector inspector;
        auto inspected = inspector.inspect(question_.body, question_.endpoint);
        if (!inspected)
            return refuse(refusal_of(std::move(inspected).error()),
                          "The body itself is at fault; no configuration changes that.");
        out_.inspected = *std::move(inspected);
        choose();
    }

    void choose() {
        auto selection =
            select(snapshot_, tenant(), {.inspected = *out_.inspected, .endpoint = question_.endpoint}, out_.decision);
        out_.policy_outcome = selection.policy_outcome;
        if (selection.alias == nullptr) return refuse(*std::move(selection.refusal), why_no_alias());
        out_.alias = selection.alias->config->name;
        tell_pools(selection);
        if (selection.refusal) {
            auto advice = selection.eligibility.verdicts.empty()
                              ? fmt::format(
                                    "aliases.{}.endpoints and .streaming are what the alias promises: add to "
                                    "them, or use another alias.",
                                    out_.alias)
                              : std::string{"Each pool of the alias says below what would make it eligible."};
            return refuse(*std::move(selection.refusal), std::move(advice));
        }
        const auto candidates = candidates_of(snapshot_, selection, {});
        if (candidates.empty())
            return refuse(no_replica_left(*selection.alias), "See the states of the replicas below.");
        tell_choice(selection, candidates);
    }

    [[nodiscard]] const Tenant& tenant() const { return key_ ? snapshot_.tenants[key_->entry.tenant] : no_tenant(); }

    void refuse(Refusal refusal, std::string advice) {
        out_.refusal = std::move(refusal);
        out_.advice = std::move(advice);
    }

    // Clients must not learn the difference; operators must.
    [[nodiscard]] std::string why_no_alias() const {
        const auto& wanted = out_.inspected->model;
        if (const Alias* alias = snapshot_.find_alias(wanted))
            return fmt::format("The alias {} exists, but the tenant {} may not use it: add it to tenants.{}.aliases.",
                               alias->config->name, out_.caller->tenant, out_.caller->tenant);
        std::vector<std::string_view> known;
        for (const auto& alias : snapshot_.config.aliases)
            known.emplace_back(alias.name);
        const auto suggestion = base::suggestion(wanted, known);
        return fmt::format("No alias is called {}{} aliases.NAME.names gives an alias further names.",
                           base::quoted(wanted), suggestion.empty() ? "." : suggestion);
    }

    void tell_pools(const Selection& selection) {
        if (!present_.live)
            out_.notes.emplace_back(
                "There are no signals offline: every replica counts as usable with nothing in flight, as in a gateway "
                "that has just started. Ask a running gateway with --admin.");
        const auto& verdicts = selection.eligibility.verdicts;
        for (std::size_t i = 0; i < verdicts.size(); ++i) {
            const auto& member = selection.alias->members[i];
            const auto& pool = snapshot_.pools[member.pool];
            ExplainedPool told{.pool = pool.config->name, .arm = member.arm(), .order = member.order};
            // Offline nothing has been learnt of any pool, and nothing would be said but that.
            if (present_.live && verdicts[i].eligible() && verdicts[i].context == routing::ContextFit::undecided)
                out_.notes.push_back(
                    fmt::format("Whether prompt and output fit the context of {} is not certain; it may "
                                "serve the request, since only what surely does not fit is refused.",
                                told.pool));
            if (verdicts[i].reason) {
                told.reason = model::text_of(*verdicts[i].reason, verdicts[i].parameter);
                told.advice = model::advice_on(*verdicts[i].reason, {.alias = out_.alias,
                                                                     .pool = told.pool,
                                                                     .tenant = out_.caller ? out_.caller->tenant : "",
                                                                     .parameter = verdicts[i].parameter});
            }
            for (const auto& replica : pool.replicas)
                told.replicas.push_back({.url = replica.url,
                                         .state = routing::name_of(replica.slot->health()),
                                         .usable = replica.slot->usable(),
                                         .in_flight = replica.slot->in_flight(),
                                         .limit = pool.config->max_concurrency_per_replica.value_or(0)});
            out_.pools.push_back(std::move(told));
        }
    }

    void tell_choice(const Selection& selection, std::span<const routing::ReplicaCandidate> candidates) {
        const auto odds = routing::odds(candidates);
        auto& choice = out_.choice.emplace();
        choice.order = odds.order;
        choice.over_limit = odds.over_limit;
        out_.decision.chosen_by = odds.chosen_by;
        const auto& members = selection.alias->members;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const auto& candidate = candidates[i];
            const auto at = std::ranges::find(members, candidate.pool, &AliasMember::pool) - members.begin();
            auto& pool = out_.pools[static_cast<std::size_t>(at)];
            auto& replica = pool.replicas[candidate.replica];
            replica.in_flight = candidate.in_flight;  // the number that was compared
            replica.share = odds.shares[i];
            pool.share += odds.shares[i];
            if (members[static_cast<std::size_t>(at)].baseline) choice.baseline_share += odds.shares[i];
            if (odds.shares[i] >= 1) out_.decision.score = candidate.in_flight;
        }
        choice.why = why_chosen(odds);
    }

    [[nodiscard]] std::string why_chosen(const routing::Odds& odds) const {
        const auto competing = std::ranges::count_if(out_.pools, [](const auto& pool) { return pool.share > 0; });
        std::uint32_t lowest = odds.order;
        for (const auto& pool : out_.pools)
            if (pool.reason.empty()) lowest = std::min(lowest, pool.order);
        std::string why;
        if (lowest < odds.order)
            why = fmt::format("every usable replica of a lower order is at its limit, and order {} comes next",
                              odds.order);
        else if (out_.decision.eligible.size() == 1)
            why = "it is the only eligible pool";
        else if (competing == 1)
            why = fmt::format("it has the lowest order ({}) of {} eligible pools", odds.order,
                              out_.decision.eligible.size());
        else
            why = fmt::format("they share the lowest order ({}), and the less busy of two random replicas gets it",
                              odds.order);
        if (odds.over_limit) why += "; every replica is at its limit, so the request goes above it";
        return why;
    }

    const Snapshot& snapshot_;
    const auth::KeyTable& keys_;
    const Question& question_;
    const Present& present_;
    std::optional<NamedKey> key_;
    Explanation out_;
};

}  // namespace

base::Result<Explanation> explain(const Tables& tables, Question question, const Present& present) {
    question.body.reserve(question.body.size() + padding_bytes);
    return Explainer{tables, question, present}.run();
}

Refusal body_too_large(std::optional<std::uint64_t> limit_bytes) {
    return {.reason = Reason::request_too_large,
            .message = limit_bytes ? fmt::format("The body is longer than the limit of {}; send less.",
                                                 base::format_size(*limit_bytes))
                                   : "The body is longer than the gateway's limit; send less."};
}

}  // namespace weir::gateway
