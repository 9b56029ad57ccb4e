// A tenant as configured: policy, shares, teams, applications and the keys that belong to them.
#pragma once

#include "base/sha256.h"
#include "base/time.h"
#include "config/limits.h"
#include "config/named.h"
#include "model/caller.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

struct Application {
    std::string name;
    std::string workload;  // "" = none
    Limits limits;
};

struct Team {
    std::string name;
    double weight = 1;  // share of the tenant's share under contention
    Limits limits;
    Named<Application> applications;
};

struct Key {
    std::string name;
    base::Sha256Digest sha256{};  // of the secret's bytes
    std::string team;             // "" = none
    std::string application;      // "" = none; always one of the team's
    std::optional<std::chrono::sys_days> expires;  // the last day, in UTC, on which it works
    model::PermissionSet permissions;
    Limits limits;

    // The first instant at which the key no longer works; nullopt = never expires.
    [[nodiscard]] std::optional<base::WallTime> expires_at() const noexcept;
};

struct Tenant {
    std::string name;
    std::vector<std::string> regions;                 // empty = any
    std::vector<std::string> requires_data_policies;  // empty = none
    std::optional<std::vector<std::string>> aliases;  // names, not synonyms; not stated = every alias
    double weight = 1;                                // share under contention
    Limits limits;
    Named<Team> teams;
    std::vector<Key> keys;

    // By the alias's own name.
    [[nodiscard]] bool may_use(std::string_view alias) const noexcept;
};

}  // namespace weir::config
