#include "model/caller.h"

#include <algorithm>
#include <utility>

namespace weir::model {

std::string_view name_of(Permission permission) noexcept {
    switch (permission) {
        case Permission::debug: return "debug";
        case Permission::priority: return "priority";
        case Permission::workload: return "workload";
        case Permission::cohort: return "cohort";
    }
    std::unreachable();
}

std::optional<Permission> permission_of(std::string_view name) noexcept {
    const auto* const found = std::ranges::find(all_permissions, name, name_of);
    if (found == all_permissions.end()) return std::nullopt;
    return *found;
}

}  // namespace weir::model
