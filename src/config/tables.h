// The tables of keys, one for each section that stands alone in the file. Internal to config.
#pragma once

#include "config/config.h"
#include "config/schema.h"

namespace weir::config {

[[nodiscard]] const Table<Server>& server_table();
[[nodiscard]] const Table<Store>& store_table();
[[nodiscard]] const Table<SharedLimits>& shared_limits_table();
[[nodiscard]] const Table<Telemetry>& telemetry_table();
[[nodiscard]] const Table<Limits>& limits_table();
[[nodiscard]] const Table<Pool>& pool_table();
[[nodiscard]] const Table<Alias>& alias_table();
[[nodiscard]] const Table<Tenant>& tenant_table();
[[nodiscard]] const Table<Config>& config_table();

}  // namespace weir::config
