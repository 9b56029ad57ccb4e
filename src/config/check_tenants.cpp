#include "base/text.h"
#include "config/check.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace weir::config {

namespace {

bool contains(const std::vector<std::string>& list, std::string_view word) noexcept {
    return std::ranges::find(list, word) != list.end();
}

// Every secret once, over all tenants: the digest alone says who is calling.
using Secrets = std::unordered_map<base::Sha256Digest, std::string, base::Sha256Hash>;

void check_team(const Check& check, const Tenant& tenant, const Key& key, const Path& path) {
    const auto at = [&](const char* name) {
        auto deeper = path;
        deeper.emplace_back(name);
        return deeper;
    };
    if (key.team.empty()) {
        if (!key.application.empty())
            check.refuse(at("application"), "an application belongs to a team; give the team too");
        return;
    }
    std::vector<std::string_view> known;
    const auto* team = tenant.teams.find(key.team);
    if (team == nullptr) {
        for (const auto& other : tenant.teams)
            known.emplace_back(other.name);
        return check.refuse(at("team"),
                            "the tenant has no team " + base::quoted(key.team) + base::suggestion(key.team, known));
    }
    if (key.application.empty() || team->applications.find(key.application) != nullptr) return;
    for (const auto& other : team->applications)
        known.emplace_back(other.name);
    check.refuse(at("application"), "the team " + team->name + " has no application " + base::quoted(key.application) +
                                        base::suggestion(key.application, known));
}

void check_keys(const Check& check, const Tenant& tenant, Secrets& secrets) {
    std::unordered_set<std::string_view> names;
    for (std::size_t i = 0; i < tenant.keys.size(); ++i) {
        const auto& key = tenant.keys[i];
        const Path path{"tenants", tenant.name, "keys", std::to_string(i)};
        check_team(check, tenant, key, path);
        if (!key.name.empty() && !names.insert(key.name).second)
            check.refuse({"tenants", tenant.name, "keys", std::to_string(i), "name"},
                         "another key of this tenant has this name");
        if (key.sha256 == base::Sha256Digest{}) continue;
        const auto [owner, fresh] = secrets.try_emplace(key.sha256, tenant.name + "/" + key.name);
        if (!fresh)
            check.refuse({"tenants", tenant.name, "keys", std::to_string(i), "sha256"},
                         "the key " + owner->second + " is the same secret");
    }
}

// Whether one of the alias's pools satisfies the tenant's policy.
bool servable(const Check& check, const Tenant& tenant, const Alias& alias) {
    return std::ranges::any_of(alias.pools, [&](const PoolUse& use) {
        const auto* pool = check.config.pools.find(use.pool);
        if (pool == nullptr) return true;  // reported elsewhere
        const bool region = tenant.regions.empty() || contains(tenant.regions, pool->region);
        return region && std::ranges::all_of(tenant.requires_data_policies,
                                             [&](const auto& policy) { return contains(pool->provides, policy); });
    });
}

void check_tenant_aliases(const Check& check, const Tenant& tenant) {
    if (!tenant.aliases) return;
    if (tenant.aliases->empty()) check.warn({"tenants", tenant.name, "aliases"}, "the tenant may use no alias");
    std::vector<std::string_view> known;
    for (const auto& alias : check.config.aliases)
        known.emplace_back(alias.name);
    for (std::size_t i = 0; i < tenant.aliases->size(); ++i) {
        const auto& name = (*tenant.aliases)[i];
        if (name.empty()) continue;
        const Path path{"tenants", tenant.name, "aliases", std::to_string(i)};
        const auto* alias = check.config.aliases.find(name);
        if (alias == nullptr)
            check.refuse(path, "there is no alias " + base::quoted(name) + base::suggestion(name, known));
        else if (alias->name != name)
            check.refuse(path, base::quoted(name) + " is another name of the alias " + alias->name + "; write that");
        else if (!servable(check, tenant, *alias))
            check.warn(path, "no pool of this alias satisfies the tenant's regions and data policies");
    }
}

// A region or policy that no pool has is more likely a typing error than a policy.
void check_words(const Check& check, const Path& list, const std::vector<std::string>& words,
                 const std::vector<std::string_view>& known, std::string_view what) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i].empty() || std::ranges::find(known, words[i]) != known.end()) continue;
        auto path = list;
        path.push_back(std::to_string(i));
        check.warn(path,
                   "no pool " + std::string{what} + " " + base::quoted(words[i]) + base::suggestion(words[i], known));
    }
}

}  // namespace

void check_tenants(const Check& check) {
    std::vector<std::string_view> regions;
    std::vector<std::string_view> policies;
    for (const auto& pool : check.config.pools) {
        if (!pool.region.empty()) regions.emplace_back(pool.region);
        policies.insert(policies.end(), pool.provides.begin(), pool.provides.end());
    }
    Secrets secrets;
    for (const auto& tenant : check.config.tenants) {
        check_keys(check, tenant, secrets);
        check_tenant_aliases(check, tenant);
        check_words(check, {"tenants", tenant.name, "regions"}, tenant.regions, regions, "is in the region");
        check_words(check, {"tenants", tenant.name, "requires_data_policies"}, tenant.requires_data_policies, policies,
                    "provides");
    }
    if (secrets.empty()) check.warn({"tenants"}, "the file has no key; only keys from the store can call");
}

}  // namespace weir::config
