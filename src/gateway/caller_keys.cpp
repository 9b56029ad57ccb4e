#include "gateway/caller_keys.h"

#include <utility>

namespace weir::gateway {

namespace {

// nullptr = the configuration does not know the scope.
const config::Tenant* tenant_of(const config::Config& config, const model::KeyScope& scope, std::string& workload) {
    const auto* tenant = config.tenants.find(scope.tenant);
    if (tenant == nullptr) return nullptr;
    if (scope.team.empty()) return scope.application.empty() ? tenant : nullptr;
    const auto* team = tenant->teams.find(scope.team);
    if (team == nullptr || scope.application.empty()) return team == nullptr ? nullptr : tenant;
    const auto* application = team->applications.find(scope.application);
    if (application == nullptr) return nullptr;
    if (workload.empty()) workload = application->workload;
    return tenant;
}

auth::Binding binding_of(const config::Config& config, const model::KeyScope& scope) {
    auth::Binding binding{.workload = std::string{scope.workload}};
    if (const auto* tenant = tenant_of(config, scope, binding.workload))
        binding.tenant = static_cast<std::uint32_t>(tenant - config.tenants.items().data());
    return binding;
}

}  // namespace

base::Result<auth::KeySet> configured_keys(const config::Config& config) {
    auth::KeySetBuilder builder;
    for (const auto& tenant : config.tenants)
        for (const auto& key : tenant.keys)
            builder.add({.digest = key.sha256,
                         .name = key.name,
                         .scope = {.tenant = tenant.name, .team = key.team, .application = key.application},
                         .permissions = key.permissions,
                         .expires = key.expires_at()});
    return std::move(builder).build(auth::Twins::refused);
}

auth::Binder key_binder(std::shared_ptr<const Snapshot> snapshot) {
    return
        [snapshot = std::move(snapshot)](const model::KeyScope& scope) { return binding_of(snapshot->config, scope); };
}

}  // namespace weir::gateway
