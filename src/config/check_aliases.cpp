#include "base/text.h"
#include "config/check.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace weir::config {

namespace {

using Names = std::unordered_map<std::string_view, std::string_view>;  // what clients may say -> the alias that means

void check_names(const Check& check, const Alias& alias, Names& names) {
    for (std::size_t i = 0; i < alias.synonyms.size(); ++i) {
        const auto& synonym = alias.synonyms[i];
        if (synonym.empty()) continue;
        const auto [owner, fresh] = names.try_emplace(synonym, alias.name);
        // Listed twice under one alias is only a warning, which the list itself gives.
        const bool harmless = fresh || (owner->second == alias.name && synonym != alias.name);
        if (!harmless)
            check.refuse({"aliases", alias.name, "names", std::to_string(i)},
                         "this is already a name of the alias " + std::string{owner->second});
    }
}

std::string unknown_pool(const Check& check, std::string_view name) {
    std::vector<std::string_view> known;
    for (const auto& pool : check.config.pools)
        known.emplace_back(pool.name);
    return "there is no pool " + base::quoted(name) + base::suggestion(name, known);
}

// Lists that are there but empty; a key that is missing, or whose words are wrong, has been reported already.
void check_not_empty(const Check& check, const Alias& alias) {
    const auto* node = check.document.root().find("aliases")->find(alias.name);
    const auto is_empty = [node](std::string_view key) {
        const auto* list = node->find(key);
        return list != nullptr && (list->is_null() || list->is_sequence()) && list->children().empty();
    };
    if (is_empty("pools")) check.refuse({"aliases", alias.name, "pools"}, "an alias needs at least one pool");
    if (is_empty("endpoints"))
        check.refuse({"aliases", alias.name, "endpoints"}, "an alias needs at least one endpoint");
}

void check_pool_uses(const Check& check, const Alias& alias) {
    const Path pools{"aliases", alias.name, "pools"};
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < alias.pools.size(); ++i) {
        const auto& use = alias.pools[i];
        if (use.pool.empty()) continue;
        auto path = pools;
        path.push_back(std::to_string(i));
        if (!seen.insert(use.pool).second) {
            check.refuse(path, "the pool " + use.pool + " is listed twice");
            continue;
        }
        if (check.config.pools.find(use.pool) == nullptr) check.refuse(path, unknown_pool(check, use.pool));
    }
}

void check_baseline(const Check& check, const Alias& alias) {
    const Path path{"aliases", alias.name, "baseline"};
    if (alias.baseline.empty()) {
        for (const auto& use : alias.pools) {
            const auto* pool = check.config.pools.find(use.pool);
            if (pool == nullptr || !pool->speculation.active()) continue;
            return check.refuse(
                path, "this key is required, since the pool " + use.pool + " speculates; name a pool that does not");
        }
        return;
    }
    if (std::ranges::find(alias.pools, alias.baseline, &PoolUse::pool) == alias.pools.end())
        return check.refuse(path, base::quoted(alias.baseline) + " is not among the alias's pools");
    const auto* pool = check.config.pools.find(alias.baseline);
    if (pool != nullptr && pool->speculation.active())
        check.refuse(path, "the pool " + alias.baseline + " speculates; a baseline does not");
}

}  // namespace

void check_aliases(const Check& check) {
    Names names;
    for (const auto& alias : check.config.aliases)
        names.try_emplace(alias.name, alias.name);
    for (const auto& alias : check.config.aliases) {
        check_names(check, alias, names);
        check_not_empty(check, alias);
        check_pool_uses(check, alias);
        check_contract(check, alias);
        check_baseline(check, alias);
    }
    if (check.config.aliases.empty()) check.warn({"aliases"}, "there are none, so nothing can be called");
}

}  // namespace weir::config
