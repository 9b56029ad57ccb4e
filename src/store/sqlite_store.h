// SqliteStore: records in one SQLite file (WAL, synchronous=NORMAL: what was committed survives the death of the
// process, the last moments may not survive the death of the machine). Migrations are numbered and only go forward.
// While the file is gone nothing is taken; another file of its name is opened and brought up to date.
// Threads: one at a time; other processes may read the file meanwhile.
#pragma once

#include "ports/record_store.h"
#include "store/sqlite_database.h"

#include <cstdint>
#include <memory>
#include <string>

namespace weir::store {

class SqliteStore final : public ports::RecordStore {
public:
    // Creates the file (mode 0600) and brings its schema up to date. Errors: unavailable (cannot open, a newer schema,
    // not a database), with the path.
    [[nodiscard]] static base::Result<std::unique_ptr<SqliteStore>> open(const std::string& path,
                                                                         const SqliteOptions& options = {});
    SqliteStore(const SqliteStore&) = delete;
    SqliteStore& operator=(const SqliteStore&) = delete;
    ~SqliteStore() override;

    [[nodiscard]] base::Status insert(std::span<const ports::RecordRow> rows) override;
    [[nodiscard]] base::Result<bool> contains(std::string_view request_id) override;
    [[nodiscard]] base::Result<std::optional<std::string>> find_json(std::string_view request_id) override;
    [[nodiscard]] std::uint64_t skipped() const noexcept override;

private:
    struct State;
    explicit SqliteStore(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace weir::store
