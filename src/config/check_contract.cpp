// What an alias promises against what each of its pools can do. Errors: a pool that could never serve the alias; a
// promise that its baseline cannot keep, since all of its traffic may be forced there; a promise that no pool keeps. A
// promise that only some pools keep is a warning for the others: eligibility sends such requests elsewhere.
// See docs/decisions/contract-check.md.
#include "config/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace weir::config {

namespace {

bool contains(const std::vector<std::string>& list, std::string_view word) noexcept {
    return std::ranges::find(list, word) != list.end();
}

// One pool of the alias that exists and could serve it.
struct Member {
    const Pool* pool = nullptr;
    Path path;  // of its entry
};

// Why a pool keeps one promise not; "" = it keeps it, or nothing is known against it.
using Objection = std::function<std::string(const Pool& pool)>;

// What keeps every request of the alias from the pool.
std::vector<std::string> exclusions(const Alias& alias, const Pool& pool) {
    std::vector<std::string> found;
    if (!alias.family.empty() && !pool.family.empty() && alias.family != pool.family)
        found.push_back(fmt::format("its family is {}, the alias promises {}", pool.family, alias.family));
    if (!alias.regions.empty() && !contains(alias.regions, pool.region))
        found.push_back(pool.region.empty()
                            ? "it states no region, and the alias is restricted to some"
                            : fmt::format("its region {} is not among the alias's regions", pool.region));
    for (const auto& policy : alias.requires_data_policies)
        if (!contains(pool.provides, policy))
            found.push_back(fmt::format("it does not provide {}, which the alias requires", policy));
    return found;
}

std::string all_of(const std::vector<std::pair<const Member*, std::string>>& broken) {
    std::string text;
    for (const auto& [member, why] : broken)
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", member->pool->name, why);
    return text;
}

void check_promise(const Check& check, const Alias& alias, const std::vector<Member>& members, const Path& promise,
                   const Objection& objection) {
    std::vector<std::pair<const Member*, std::string>> broken;
    for (const auto& member : members)
        if (auto why = objection(*member.pool); !why.empty()) broken.emplace_back(&member, std::move(why));
    if (broken.size() == members.size()) {
        if (!broken.empty()) check.refuse(promise, "no pool of the alias can keep this promise: " + all_of(broken));
        return;
    }
    for (const auto& [member, why] : broken) {
        const auto& name = member->pool->name;
        if (name == alias.baseline)
            check.refuse(member->path, name + " cannot stand behind this alias: " + why);
        else
            check.warn(member->path, fmt::format("{} cannot keep all of the alias's promises: {}; such requests go to "
                                                 "the alias's other pools",
                                                 name, why));
    }
}

// The item of a list that says this word; the list, where the words come from elsewhere.
Path item_path(const Check& check, Path list, std::string_view word) {
    const auto* node = &check.document.root();
    for (const auto& key : list)
        node = node == nullptr ? nullptr : node->find(key);
    if (node == nullptr || !node->is_sequence()) return list;
    const auto items = node->children();
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].text() != word) continue;
        list.push_back(std::to_string(i));
        break;
    }
    return list;
}

void check_endpoints(const Check& check, const Alias& alias, const std::vector<Member>& members) {
    const auto served = [&check](const Pool& pool) -> std::optional<model::EndpointSet> {
        // An empty list has been reported already.
        if (pool.capabilities.endpoints && !pool.capabilities.endpoints->empty()) return pool.capabilities.endpoints;
        if (pool.capabilities.endpoints || !check.engines.endpoints) return std::nullopt;
        return check.engines.endpoints(pool);
    };
    for (const auto endpoint : model::all_endpoints) {
        if (!alias.endpoints.contains(endpoint)) continue;
        const auto name = model::name_of(endpoint);
        check_promise(check, alias, members, item_path(check, {"aliases", alias.name, "endpoints"}, name),
                      [&](const Pool& pool) -> std::string {
                          const auto can = served(pool);
                          if (!can || can->contains(endpoint)) return {};
                          return fmt::format("it does not serve {}, which the alias promises{}", name,
                                             pool.capabilities.endpoints ? ""
                                                                         : " (if it does, say so in "
                                                                           "capabilities.endpoints)");
                      });
    }
}

void check_features(const Check& check, const Alias& alias, const std::vector<Member>& members) {
    for (const auto feature : model::all_features) {
        if (!alias.features.contains(feature)) continue;
        const auto name = model::name_of(feature);
        check_promise(check, alias, members, item_path(check, {"aliases", alias.name, "features"}, name),
                      [&](const Pool& pool) -> std::string {
                          if (pool.capabilities.deny.contains(feature))
                              return fmt::format("it denies {}, which the alias promises", name);
                          return check.engines.objection ? check.engines.objection(pool, feature) : std::string{};
                      });
    }
}

void check_shape(const Check& check, const Alias& alias, const std::vector<Member>& members) {
    if (alias.context_tokens)
        check_promise(check, alias, members, {"aliases", alias.name, "context"}, [&](const Pool& pool) -> std::string {
            const auto can = pool.capabilities.context_tokens;
            if (!can || *alias.context_tokens <= *can) return {};
            return fmt::format("its context is {} tokens, the alias promises {}", *can, *alias.context_tokens);
        });
    if (alias.streaming)
        check_promise(check, alias, members, {"aliases", alias.name, "streaming"}, [](const Pool& pool) -> std::string {
            return pool.capabilities.streaming ? "" : "it cannot stream, which the alias promises";
        });
}

void check_lossless(const Check& check, const Alias& alias, const Member& member) {
    const auto& pool = *member.pool;
    if (!alias.require_lossless || !pool.speculation.active()) return;
    switch (pool.speculation.lossless) {
        case Lossless::verified: return;
        case Lossless::declared:
            return check.warn(member.path, pool.name + " is lossless by declaration only, and the alias requires it");
        case Lossless::no: return check.refuse(member.path, pool.name + " is not lossless, which the alias requires");
        case Lossless::unknown:
            return check.refuse(member.path, pool.name + " is not known to be lossless, which the alias requires");
    }
}

void check_measured(const Check& check, const Alias& alias, const Member& member) {
    if (alias.allow_unmeasured || !member.pool->speculation.active() || !member.pool->profiles.empty()) return;
    check.warn(member.path, member.pool->name +
                                " has no measured profile, and the alias allows no unmeasured pool: it "
                                "gets no request");
}

}  // namespace

void check_contract(const Check& check, const Alias& alias) {
    std::vector<Member> members;
    for (std::size_t i = 0; i < alias.pools.size(); ++i) {
        const auto* pool = check.config.pools.find(alias.pools[i].pool);
        if (pool == nullptr || std::ranges::find(members, pool, &Member::pool) != members.end()) continue;
        Member member{.pool = pool, .path = {"aliases", alias.name, "pools", std::to_string(i)}};
        const auto excluded = exclusions(alias, *pool);
        for (const auto& why : excluded)
            check.refuse(member.path, pool->name + " cannot stand behind this alias: " + why);
        check_lossless(check, alias, member);
        check_measured(check, alias, member);
        if (excluded.empty()) members.push_back(std::move(member));
    }
    check_shape(check, alias, members);
    check_endpoints(check, alias, members);
    check_features(check, alias, members);
}

}  // namespace weir::config
