#include "config/tenant.h"

#include "config/tables.h"
#include "config/types.h"

#include <algorithm>

namespace weir::config {

std::optional<base::WallTime> Key::expires_at() const noexcept {
    if (!expires) return std::nullopt;
    return base::WallTime{*expires + std::chrono::days{1}};
}

bool Tenant::may_use(std::string_view alias) const noexcept {
    return !aliases || std::ranges::find(*aliases, alias) != aliases->end();
}

namespace {

const Table<Application>& application_table() {
    static const Table<Application> table{
        field("workload", &Application::workload, name(), "The traffic class of its requests."),
        field("limits", &Application::limits, object(limits_table()), "Limits of all its keys together."),
    };
    return table;
}

const Table<Team>& team_table() {
    static const Table<Team> table{
        field("weight", &Team::weight, number({0.01, 1000}),
              "Its share under contention, relative to the tenant's other teams."),
        field("limits", &Team::limits, object(limits_table()), "Limits of all its keys together."),
        field("applications", &Team::applications, named(application_table()), "Its applications."),
    };
    return table;
}

const Table<Key>& key_table() {
    static const Table<Key> table{
        required(field("name", &Key::name, name(), "What it is called in records; never the secret.")),
        required(field("sha256", &Key::sha256, sha256_digest(), "The SHA-256 of the secret.")),
        field("team", &Key::team, name(), "One of the tenant's teams."),
        field("application", &Key::application, name(), "One of the team's applications."),
        field("expires", &Key::expires, date(), "The last day, in UTC, on which it works."),
        field("permissions", &Key::permissions, set_of<model::PermissionSet>(named_choices(model::all_permissions)),
              "What it may ask for beyond requests."),
        field("limits", &Key::limits, object(limits_table()), "Limits of this key alone."),
    };
    return table;
}

}  // namespace

const Table<Tenant>& tenant_table() {
    static const Table<Tenant> table{
        field("regions", &Tenant::regions, list(name()),
              "Regions in which its requests may be served; any when empty."),
        field("requires_data_policies", &Tenant::requires_data_policies, list(name()),
              "Data policies that its requests need."),
        field("aliases", &Tenant::aliases, list(name()),
              "The aliases it may use; every alias when absent, none when empty."),
        field("weight", &Tenant::weight, number({0.01, 1000}),
              "Its share under contention, relative to other tenants."),
        field("limits", &Tenant::limits, object(limits_table()), "Limits of all its keys together."),
        field("teams", &Tenant::teams, named(team_table()), "Its teams."),
        field("keys", &Tenant::keys, list(object(key_table())), "Its keys; more are made by weir key."),
    };
    return table;
}

}  // namespace weir::config
