// KeyColumns: how the values of a key are written in its row: times and permissions. Pure; shared by store and feed.
#pragma once

#include "base/time.h"
#include "model/caller.h"
#include "store/sqlite_handle.h"

#include <optional>
#include <string>
#include <string_view>

namespace weir::store {

[[nodiscard]] std::int64_t seconds_of(base::WallTime time) noexcept;  // rounded down
[[nodiscard]] std::optional<base::WallTime> time_of(sqlite3_stmt* row, int index);  // nullopt = NULL
int bind_time(sqlite3_stmt* statement, int index, std::optional<base::WallTime> time);

// "debug,priority". A word that this weir does not know permits nothing.
[[nodiscard]] std::string permissions_text(model::PermissionSet permissions);
[[nodiscard]] model::PermissionSet permissions_from(std::string_view text);

}  // namespace weir::store
