// Owning handles for SQLite's C interface, and the one way to turn its errors into ours.
#pragma once

#include "base/result.h"

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>

namespace weir::store {

struct CloseDatabase {
    void operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

[[nodiscard]] inline std::unexpected<base::Error> sqlite_error(sqlite3* database, std::string what) {
    const bool busy = sqlite3_errcode(database) == SQLITE_BUSY;
    return base::fail(base::ErrorCode::unavailable,
                      std::move(what) + ": " + sqlite3_errmsg(database) + (busy ? " by another process" : ""));
}

[[nodiscard]] inline base::Status execute(sqlite3* database, const char* sql) {
    if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return sqlite_error(database, "store");
    return {};
}

[[nodiscard]] inline base::Result<Statement> prepare(sqlite3* database, const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK)
        return sqlite_error(database, "store");
    return Statement{statement};
}

// Texts are not copied: they live until the statement has run.
inline int bind_text(sqlite3_stmt* statement, int index, std::string_view text) {
    return sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

// "" for NULL; valid until the statement's next step.
[[nodiscard]] inline std::string_view text_of(sqlite3_stmt* row, int index) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, index));
    if (text == nullptr) return {};
    return {text, static_cast<std::size_t>(sqlite3_column_bytes(row, index))};
}

}  // namespace weir::store
