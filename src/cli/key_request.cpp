#include "cli/key_request.h"

#include "base/text.h"
#include "base/units.h"
#include "config/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weir::cli {

using base::ErrorCode;
using base::Result;

namespace {

constexpr base::WallTime last_expiry{std::chrono::sys_days{std::chrono::year{2100} / 1 / 1}};

base::Status check_name(std::string_view option, std::string_view name) {
    auto fault = config::name_fault(name);
    if (fault.empty()) return {};
    return base::fail(ErrorCode::invalid_argument, fmt::format("{} {}: {}", option, base::quoted(name), fault));
}

Result<model::PermissionSet> permissions_of(const std::vector<std::string>& words) {
    model::PermissionSet permissions;
    for (const auto& word : words) {
        if (const auto known = model::permission_of(word)) {
            permissions.add(*known);
            continue;
        }
        std::vector<std::string_view> names;
        for (const auto permission : model::all_permissions)
            names.push_back(model::name_of(permission));
        return base::fail(ErrorCode::invalid_argument,
                          fmt::format("--permission {}: expected {}", base::quoted(word), base::join_or(names)));
    }
    return permissions;
}

template <class Items>
std::string unknown(std::string_view text, std::string_view word, const Items& items) {
    std::vector<std::string_view> known;
    for (const auto& item : items)
        known.emplace_back(item.name);
    return fmt::format("{} {}{}", text, base::quoted(word), base::suggestion(word, known));
}

}  // namespace

Result<base::WallTime> parse_expiry(std::string_view text, base::WallTime now) {
    base::WallTime expires;
    if (const auto day = base::parse_date(text)) {
        if (*day >= std::chrono::floor<std::chrono::days>(last_expiry))
            return base::fail(ErrorCode::invalid_argument, "must be before the year 2100; leave it out for never");
        expires = *day + std::chrono::days{1};
    } else if (const auto span = base::parse_duration(text)) {
        if (*span > last_expiry - now)
            return base::fail(ErrorCode::invalid_argument, "must be before the year 2100; leave it out for never");
        expires = std::chrono::ceil<std::chrono::seconds>(now + *span);
    } else {
        return base::fail(ErrorCode::invalid_argument, "expected a date (2027-06-30) or a duration (90d, 12h)");
    }
    if (expires <= now) return base::fail(ErrorCode::invalid_argument, "is over already");
    return expires;
}

Result<ports::NewKey> new_key_of(const KeyOptions& options, base::WallTime now) {
    const std::vector<std::pair<std::string_view, std::string_view>> names{{"--name", options.name},
                                                                           {"--tenant", options.tenant},
                                                                           {"--team", options.team},
                                                                           {"--application", options.application},
                                                                           {"--workload", options.workload}};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const bool optional = i >= 2;
        if (optional && names[i].second.empty()) continue;
        if (auto good = check_name(names[i].first, names[i].second); !good) return std::unexpected{good.error()};
    }
    if (is_key_id(options.name))
        return base::fail(ErrorCode::invalid_argument,
                          fmt::format("--name {}: looks like the id of a key; choose another", options.name));
    if (!options.application.empty() && options.team.empty())
        return base::fail(ErrorCode::invalid_argument, "--application: belongs to a team; give --team too");
    auto permissions = permissions_of(options.permissions);
    if (!permissions) return std::unexpected{std::move(permissions).error()};
    ports::NewKey key{.tenant = options.tenant,
                      .name = options.name,
                      .team = options.team,
                      .application = options.application,
                      .workload = options.workload,
                      .permissions = *permissions,
                      .created = now};
    if (options.expires.empty()) return key;
    auto expires = parse_expiry(options.expires, now);
    if (!expires)
        return std::unexpected{
            std::move(expires).error().within(fmt::format("--expires {}", base::quoted(options.expires)))};
    key.expires = *expires;
    return key;
}

std::string fault_in(const ports::NewKey& key, const config::Config& config) {
    const auto* tenant = config.tenants.find(key.tenant);
    if (tenant == nullptr) return unknown("there is no tenant", key.tenant, config.tenants);
    if (std::ranges::find(tenant->keys, key.name, &config::Key::name) != tenant->keys.end())
        return fmt::format("the tenant {} has a key {} already, in the configuration", key.tenant, key.name);
    if (key.team.empty()) return {};
    const auto* team = tenant->teams.find(key.team);
    if (team == nullptr) return unknown(fmt::format("the tenant {} has no team", key.tenant), key.team, tenant->teams);
    if (key.application.empty() || team->applications.find(key.application) != nullptr) return {};
    return unknown(fmt::format("the team {} has no application", key.team), key.application, team->applications);
}

Result<base::WallTime> parse_grace(std::string_view text, base::WallTime now) {
    constexpr std::chrono::days longest{366};
    const auto span = base::parse_duration(text);
    if (!span) return std::unexpected{span.error()};
    if (*span > longest) return base::fail(ErrorCode::invalid_argument, "at most 366d");
    if (*span <= base::Nanoseconds{0}) return std::chrono::floor<std::chrono::seconds>(now);
    return std::chrono::ceil<std::chrono::seconds>(now + *span);
}

bool is_key_id(std::string_view text) noexcept {
    constexpr std::string_view digits = "0123456789abcdef";
    return text.size() == 18 && text.starts_with("k_") &&
           std::ranges::all_of(text.substr(2), [&](char c) { return digits.contains(c); });
}

Result<ports::StoredKey> pick_key(std::span<const ports::StoredKey> candidates, base::WallTime now) {
    const ports::StoredKey* best = nullptr;
    bool several = false;
    for (const auto& key : candidates) {
        const auto state = state_of(key, now);
        const bool same = best != nullptr && state == state_of(*best, now);
        if (same && key.tenant != best->tenant) several = true;
        if (same || best == nullptr) best = &key;
        if (!same && state < state_of(*best, now)) {
            best = &key;
            several = false;
        }
    }
    if (best == nullptr) return base::fail(ErrorCode::not_found, "there is no such key");
    // That all of them are revoked is one answer, whoever's they are.
    if (!several || state_of(*best, now) == ports::KeyState::revoked) return *best;
    std::string tenants;
    for (const auto& key : candidates)
        if (state_of(key, now) == state_of(*best, now))
            tenants += fmt::format("{}{} ({})", tenants.empty() ? "" : ", ", key.tenant, key.id);
    return base::fail(ErrorCode::invalid_argument,
                      fmt::format("several tenants have a key of that name: {}; give --tenant or the id", tenants));
}

}  // namespace weir::cli
