#include "store/sqlite_key_store.h"

#include "store/key_columns.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace weir::store {

using base::ErrorCode;
using base::Result;
using base::Status;

namespace {

// One statement that is run once and gives at most one row. Members fail by leaving `good` false.
class Query {
public:
    Query(sqlite3* database, const char* sql) : database_{database} {
        auto prepared = prepare(database, sql);
        if (prepared)
            statement_ = *std::move(prepared);
        else
            good_ = false;
    }
    Query& text(std::string_view value) { return bound(bind_text(get(), ++parameters_, value)); }
    Query& number(std::int64_t value) { return bound(sqlite3_bind_int64(get(), ++parameters_, value)); }
    Query& time(std::optional<base::WallTime> value) { return bound(bind_time(get(), ++parameters_, value)); }
    Query& digest(const base::Sha256Digest& value) {
        return bound(
            sqlite3_bind_blob(get(), ++parameters_, value.data(), static_cast<int>(value.size()), SQLITE_STATIC));
    }
    // Whether there is a (further) row.
    Result<bool> step() {
        const int result = good_ ? sqlite3_step(get()) : SQLITE_ERROR;
        if (result == SQLITE_ROW) return true;
        if (result == SQLITE_DONE) return false;
        return sqlite_error(database_, "keys");
    }
    Status run() {
        auto row = step();
        return row ? Status{} : Status{std::unexpected{std::move(row).error()}};
    }
    [[nodiscard]] sqlite3_stmt* get() const noexcept { return statement_.get(); }

private:
    Query& bound(int result) {
        good_ = good_ && result == SQLITE_OK;
        return *this;
    }
    sqlite3* database_;
    Statement statement_;
    int parameters_ = 0;
    bool good_ = true;
};

struct Current {
    std::int64_t number = 0;
    std::optional<base::WallTime> expires;
    std::optional<base::WallTime> revoked;
};

Result<Current> current(sqlite3* database, const std::string& id) {
    Query query{database, "SELECT number, expires, revoked FROM keys WHERE id = ?"};
    auto row = query.text(id).step();
    if (!row) return std::unexpected{std::move(row).error()};
    if (!*row) return base::fail(ErrorCode::not_found, fmt::format("there is no key {}", id));
    return Current{.number = sqlite3_column_int64(query.get(), 0),
                   .expires = time_of(query.get(), 1),
                   .revoked = time_of(query.get(), 2)};
}

// An expired key gives its name free; a living one keeps it.
Status claim_name(sqlite3* database, const ports::NewKey& key) {
    Query free{database, "UPDATE keys SET live = 0 WHERE tenant = ? AND name = ? AND live = 1 AND expires <= ?"};
    if (auto done = free.text(key.tenant).text(key.name).time(key.created).run(); !done) return done;
    Query taken{database, "SELECT id FROM keys WHERE tenant = ? AND name = ? AND live = 1"};
    auto row = taken.text(key.tenant).text(key.name).step();
    if (!row) return std::unexpected{std::move(row).error()};
    if (!*row) return {};
    return base::fail(ErrorCode::invalid_argument, fmt::format("the tenant {} has a key {} already (id {})", key.tenant,
                                                               key.name, text_of(taken.get(), 0)));
}

Status insert_key(sqlite3* database, const ports::NewKey& key, std::int64_t change) {
    Query query{database,
                "INSERT INTO keys (id, tenant, name, team, application, workload, permissions, created, changed, "
                "expires, change) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    const auto permissions = permissions_text(key.permissions);
    query.text(key.id).text(key.tenant).text(key.name).text(key.team).text(key.application).text(key.workload);
    return query.text(permissions).time(key.created).time(key.created).time(key.expires).number(change).run();
}

Status insert_secret(sqlite3* database, std::int64_t key, const base::Sha256Digest& digest, base::WallTime created) {
    Query query{database, "INSERT INTO key_secrets (key, sha256, created) VALUES (?, ?, ?)"};
    return query.number(key).digest(digest).time(created).run();
}

Status touch(sqlite3* database, std::int64_t key, base::WallTime now, std::int64_t change) {
    Query query{database, "UPDATE keys SET changed = ?, change = ? WHERE number = ?"};
    return query.time(now).number(change).number(key).run();
}

Status rotate_secret(sqlite3* database, const ports::Rotation& rotation, std::int64_t change) {
    auto key = current(database, rotation.id);
    if (!key) return std::unexpected{std::move(key).error()};
    if (key->revoked) return base::fail(ErrorCode::invalid_argument, fmt::format("the key {} is revoked", rotation.id));
    if (key->expires && *key->expires <= rotation.now)
        return base::fail(ErrorCode::invalid_argument, fmt::format("the key {} has expired", rotation.id));
    Query end{database, "UPDATE key_secrets SET expires = min(coalesce(expires, ?1), ?1) WHERE key = ?2"};
    if (auto done = end.time(rotation.old_until).number(key->number).run(); !done) return done;
    if (auto done = insert_secret(database, key->number, rotation.digest, rotation.now); !done) return done;
    return touch(database, key->number, rotation.now, change);
}

constexpr auto select_keys =
    "SELECT id, tenant, name, team, application, workload, permissions, created, changed, expires, revoked, "
    "(SELECT max(s.expires) FROM key_secrets s WHERE s.key = keys.number) FROM keys";

ports::StoredKey key_of(sqlite3_stmt* row) {
    const auto text = [row](int index) { return std::string{text_of(row, index)}; };
    return {.id = text(0),
            .tenant = text(1),
            .name = text(2),
            .team = text(3),
            .application = text(4),
            .workload = text(5),
            .permissions = permissions_from(text_of(row, 6)),
            .created = time_of(row, 7).value_or(base::WallTime{}),
            .changed = time_of(row, 8).value_or(base::WallTime{}),
            .expires = time_of(row, 9),
            .revoked = time_of(row, 10),
            .previous_until = time_of(row, 11)};
}

}  // namespace

Result<std::unique_ptr<SqliteKeyStore>> SqliteKeyStore::open(const std::string& path, const SqliteOptions& options) {
    auto database = open_sqlite(path, options);
    if (!database) return std::unexpected{std::move(database).error()};
    return std::unique_ptr<SqliteKeyStore>{new SqliteKeyStore{fmt::format("store {}", path), *std::move(database)}};
}

Status SqliteKeyStore::transact(const std::function<Status(std::int64_t change)>& change) {
    auto* database = database_.get();
    if (auto begun = execute(database, "BEGIN IMMEDIATE"); !begun)
        return std::unexpected{std::move(begun).error().within(where_)};
    Query count{database, "UPDATE key_changes SET newest = newest + 1 RETURNING newest"};
    auto counted = count.step();
    auto done =
        counted ? change(sqlite3_column_int64(count.get(), 0)) : Status{std::unexpected{std::move(counted).error()}};
    // RETURNING has given its row; the statement is at its end only after a further step.
    if (done) done = count.run();
    if (done) done = execute(database, "COMMIT");
    if (done) return {};
    sqlite3_reset(count.get());
    static_cast<void>(execute(database, "ROLLBACK"));
    if (done.error().code() != ErrorCode::unavailable) return done;
    return std::unexpected{std::move(done).error().within(where_)};
}

Status SqliteKeyStore::create(const ports::NewKey& key) {
    return transact([&](std::int64_t change) -> Status {
        auto* database = database_.get();
        if (auto claimed = claim_name(database, key); !claimed) return claimed;
        if (auto inserted = insert_key(database, key, change); !inserted) return inserted;
        return insert_secret(database, sqlite3_last_insert_rowid(database), key.digest, key.created);
    });
}

Result<bool> SqliteKeyStore::revoke(const std::string& id, base::WallTime now) {
    bool revoked = false;
    auto done = transact([&](std::int64_t change) -> Status {
        auto key = current(database_.get(), id);
        if (!key) return std::unexpected{std::move(key).error()};
        if (key->revoked) return {};
        revoked = true;
        Query query{database_.get(),
                    "UPDATE keys SET revoked = ?1, changed = ?1, live = 0, change = ?2 WHERE number = ?3"};
        return query.time(now).number(change).number(key->number).run();
    });
    if (!done) return std::unexpected{std::move(done).error()};
    return revoked;
}

Status SqliteKeyStore::rotate(const ports::Rotation& rotation) {
    return transact([&](std::int64_t change) { return rotate_secret(database_.get(), rotation, change); });
}

Status SqliteKeyStore::find(const ports::KeyFilter& filter, const std::function<void(const ports::StoredKey&)>& found) {
    const std::array<std::pair<const char*, const std::optional<std::string>*>, 5> wanted{
        {{"id", &filter.id},
         {"name", &filter.name},
         {"tenant", &filter.tenant},
         {"team", &filter.team},
         {"application", &filter.application}}};
    std::string sql = select_keys;
    for (const char* joint = " WHERE "; const auto& [column, value] : wanted)
        if (*value) sql += fmt::format("{}{} = ?", std::exchange(joint, " AND "), column);
    sql += " ORDER BY tenant, name, number";
    Query query{database_.get(), sql.c_str()};
    for (const auto& [column, value] : wanted)
        if (*value) query.text(**value);
    auto row = query.step();
    for (; row && *row; row = query.step())
        found(key_of(query.get()));
    return row ? Status{} : Status{std::unexpected{std::move(row).error().within(where_)}};
}

}  // namespace weir::store
