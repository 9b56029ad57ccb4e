// SqliteKeyStore: the keys of a store's file, for those who change them.
#pragma once

#include "ports/key_store.h"
#include "store/sqlite_database.h"

#include <memory>
#include <string>

namespace weir::store {

class SqliteKeyStore final : public ports::KeyStore {
public:
    // Errors: those of open_sqlite().
    [[nodiscard]] static base::Result<std::unique_ptr<SqliteKeyStore>> open(const std::string& path,
                                                                            const SqliteOptions& options);

    [[nodiscard]] base::Status create(const ports::NewKey& key) override;
    [[nodiscard]] base::Status find(const ports::KeyFilter& filter,
                                    const std::function<void(const ports::StoredKey&)>& found) override;
    [[nodiscard]] base::Result<bool> revoke(const std::string& id, base::WallTime now) override;
    [[nodiscard]] base::Status rotate(const ports::Rotation& rotation) override;

private:
    SqliteKeyStore(std::string where, Database database) : where_{std::move(where)}, database_{std::move(database)} {}
    // Runs `change` in one transaction with the number of this change; an error undoes it.
    [[nodiscard]] base::Status transact(const std::function<base::Status(std::int64_t change)>& change);

    std::string where_;
    Database database_;
};

}  // namespace weir::store
