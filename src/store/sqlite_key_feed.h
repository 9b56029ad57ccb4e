// SqliteKeyFeed: reads the keys of a store's file, beside whoever writes it.
#pragma once

#include "ports/key_store.h"
#include "store/sqlite_database.h"

#include <memory>
#include <string>

namespace weir::store {

class SqliteKeyFeed final : public ports::KeyFeed {
public:
    // The file exists already. Errors: those of open_sqlite().
    [[nodiscard]] static base::Result<std::unique_ptr<SqliteKeyFeed>> open(const std::string& path,
                                                                           SqliteOptions options = {});
    SqliteKeyFeed(const SqliteKeyFeed&) = delete;
    SqliteKeyFeed& operator=(const SqliteKeyFeed&) = delete;
    ~SqliteKeyFeed() override;

    // A file that was put in the place of the one before is opened. Further errors: those of StoreFile::look().
    [[nodiscard]] base::Result<std::int64_t> version() override;
    [[nodiscard]] base::Result<std::int64_t> read(std::int64_t after,
                                                  const std::function<void(const model::KeyRow&)>& row) override;

private:
    struct State;
    explicit SqliteKeyFeed(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace weir::store
