// SqliteRecordReader: finds single records in a store's file, beside whoever writes it. Waits for nobody's lock:
// readers of the file never do. Threads: one at a time.
#pragma once

#include "base/result.h"
#include "store/sqlite_database.h"
#include "store/store_file.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace weir::store {

// The record as JSON, with the names of contract.md section 6; nullopt = unknown. Errors: unavailable.
[[nodiscard]] base::Result<std::optional<std::string>> select_record(sqlite3* database, std::string_view request_id);

class SqliteRecordReader {
public:
    // The file exists already. Errors: those of open_sqlite().
    [[nodiscard]] static base::Result<std::unique_ptr<SqliteRecordReader>> open(const std::string& path);
    // A file that was put in the place of the one before is opened. Errors: those of open() and StoreFile::look().
    [[nodiscard]] base::Result<std::optional<std::string>> find(std::string_view request_id);

private:
    explicit SqliteRecordReader(std::string path) : path_{std::move(path)}, file_{path_} {}
    [[nodiscard]] base::Status connect(bool fill);  // as in SqliteOptions

    std::string path_;
    StoreFile file_;
    Database database_;
};

}  // namespace weir::store
