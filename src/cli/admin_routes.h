// The routes of the admin API that this version has. Each is handed to the endpoint with what it shows;
// docs/admin-api.md describes them.
#pragma once

#include "admin/api.h"
#include "base/result.h"
#include "gateway/worker.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weir::cli {

// What /admin/v1/config tells.
struct ConfigStatus {
    std::string version;  // of the configuration in force: `config_version` in records
    std::string file;
    base::WallTime loaded_at{};
    bool last_reload_successful = true;
    base::WallTime last_reload_at{};  // the start counts as a load
    std::string last_reload_problems{};
};

// Called on the control thread; must not block, but for `record`, which may take some milliseconds.
struct AdminSources {
    std::function<gateway::Tables()> tables;
    std::function<bool()> draining;
    std::function<ConfigStatus()> config_status;
    // The record of a request as JSON; nullopt = the store has none. Errors: unavailable.
    std::function<base::Result<std::optional<std::string>>(const std::string& request_id)> record;
};

[[nodiscard]] std::vector<admin::Route> admin_routes(AdminSources sources);

}  // namespace weir::cli
