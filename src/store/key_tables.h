// KeyTables: the tables of keys: `keys`, `key_secrets` (several for a rotated key) and `key_changes` (one row).
// Times are whole seconds since 1970.
#pragma once

#include "store/migrations.h"

#include <vector>

namespace weir::store {

[[nodiscard]] std::vector<Migration> key_migrations();

}  // namespace weir::store
