#include "store/key_columns.h"

#include <algorithm>

namespace weir::store {

std::int64_t seconds_of(base::WallTime time) noexcept {
    return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

// What is out of the clock's range (a store edited by hand) is taken for its end.
std::optional<base::WallTime> time_of(sqlite3_stmt* row, int index) {
    if (sqlite3_column_type(row, index) == SQLITE_NULL) return std::nullopt;
    constexpr std::int64_t last = std::chrono::floor<std::chrono::seconds>(base::Nanoseconds::max()).count();
    const std::int64_t seconds = std::clamp<std::int64_t>(sqlite3_column_int64(row, index), 0, last);
    return base::WallTime{std::chrono::seconds{seconds}};
}

int bind_time(sqlite3_stmt* statement, int index, std::optional<base::WallTime> time) {
    return time ? sqlite3_bind_int64(statement, index, seconds_of(*time)) : sqlite3_bind_null(statement, index);
}

std::string permissions_text(model::PermissionSet permissions) {
    std::string text;
    for (const auto permission : model::all_permissions) {
        if (!permissions.contains(permission)) continue;
        if (!text.empty()) text += ',';
        text += model::name_of(permission);
    }
    return text;
}

model::PermissionSet permissions_from(std::string_view text) {
    model::PermissionSet permissions;
    while (!text.empty()) {
        const auto end = std::min(text.find(','), text.size());
        if (const auto known = model::permission_of(text.substr(0, end))) permissions.add(*known);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return permissions;
}

}  // namespace weir::store
