// SqliteDatabase: opens the one SQLite file that holds everything durable, and brings its schema up to date.
#pragma once

#include "base/result.h"
#include "store/sqlite_handle.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace weir::store {

struct SqliteOptions {
    std::chrono::milliseconds busy_timeout{2000};  // wait for another process's lock before an operation fails
    std::uint32_t max_pages = 0;                   // cap on the file, in its pages; 0 = SQLite's own
    bool create = true;                            // a file that does not exist is made (mode 0600)
    // A file without our tables gets them. False where a file came into the place of a store in use: an empty one is
    // a restore that has only begun, and what were written to it would be in its way.
    bool fill = true;
};

// Errors: unavailable (cannot open, a newer schema, not a database, no tables of ours and none are to be made),
// not_found (no file, and none is to be made), with the path.
[[nodiscard]] base::Result<Database> open_sqlite(const std::string& path, const SqliteOptions& options);

}  // namespace weir::store
