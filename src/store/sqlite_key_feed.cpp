#include "store/sqlite_key_feed.h"

#include "store/key_columns.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace weir::store {

using base::ErrorCode;
using base::Result;

namespace {

constexpr auto select_version = "SELECT newest FROM key_changes";

std::string select_rows(bool all) {
    const std::string columns =
        "SELECT s.sha256, k.name, k.tenant, k.team, k.application, k.workload, k.permissions, k.expires, s.expires, "
        "k.revoked IS NOT NULL FROM keys k JOIN key_secrets s ON s.key = k.number WHERE ";
    return columns + (all ? "k.revoked IS NULL" : "k.change > ?");
}

struct FileIdentity {
    dev_t device{};
    ino_t inode{};
    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

Result<FileIdentity> identity_of(const std::string& path) {
    struct stat about{};
    if (::stat(path.c_str(), &about) == 0) return FileIdentity{.device = about.st_dev, .inode = about.st_ino};
    return base::fail(ErrorCode::unavailable, std::error_code(errno, std::generic_category()).message());
}

std::optional<base::WallTime> earlier(std::optional<base::WallTime> a, std::optional<base::WallTime> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

// nullopt = a row that no weir wrote: its digest has the wrong length.
std::optional<model::KeyRow> row_of(sqlite3_stmt* row) {
    model::KeyRow key;
    const void* digest = sqlite3_column_blob(row, 0);
    if (digest == nullptr || sqlite3_column_bytes(row, 0) != static_cast<int>(key.digest.size())) return std::nullopt;
    std::memcpy(key.digest.data(), digest, key.digest.size());
    key.name = text_of(row, 1);
    key.scope = {.tenant = text_of(row, 2),
                 .team = text_of(row, 3),
                 .application = text_of(row, 4),
                 .workload = text_of(row, 5)};
    key.permissions = permissions_from(text_of(row, 6));
    key.expires = earlier(time_of(row, 7), time_of(row, 8));
    key.revoked = sqlite3_column_int(row, 9) != 0;
    return key;
}

}  // namespace

struct SqliteKeyFeed::State {
    std::string path;
    FileIdentity file;
    Database database;  // before its statements, which must be gone first
    Statement select_version;

    Result<std::int64_t> version() {
        const int step = sqlite3_step(select_version.get());
        const auto newest = step == SQLITE_ROW ? sqlite3_column_int64(select_version.get(), 0) : 0;
        auto failure = step == SQLITE_ROW ? std::nullopt : std::optional{sqlite_error(database.get(), "keys")};
        sqlite3_reset(select_version.get());
        if (failure) return std::move(*failure);
        return newest;
    }
    Result<std::int64_t> rows(std::int64_t after, const std::function<void(const model::KeyRow&)>& row) {
        auto newest = version();
        auto select = prepare(database.get(), select_rows(after == 0));
        if (!newest || !select) return newest ? Result<std::int64_t>{std::unexpected{select.error()}} : newest;
        if (after != 0) sqlite3_bind_int64(select->get(), 1, after);
        int step = sqlite3_step(select->get());
        for (; step == SQLITE_ROW; step = sqlite3_step(select->get()))
            if (const auto key = row_of(select->get())) row(*key);
        if (step != SQLITE_DONE) return sqlite_error(database.get(), "keys");
        return newest;
    }
};

SqliteKeyFeed::SqliteKeyFeed(std::unique_ptr<State> state) : state_{std::move(state)} {}
SqliteKeyFeed::~SqliteKeyFeed() = default;

Result<std::unique_ptr<SqliteKeyFeed>> SqliteKeyFeed::open(const std::string& path, SqliteOptions options) {
    options.create = false;
    auto file = identity_of(path);
    if (!file) return std::unexpected{std::move(file).error().within(fmt::format("store {}", path))};
    auto database = open_sqlite(path, options);
    if (!database) return std::unexpected{std::move(database).error()};
    auto select = prepare(database->get(), select_version);
    if (!select) return std::unexpected{std::move(select).error().within(fmt::format("store {}", path))};
    auto state = std::make_unique<State>(path, *file, *std::move(database), *std::move(select));
    return std::unique_ptr<SqliteKeyFeed>{new SqliteKeyFeed{std::move(state)}};
}

Result<std::int64_t> SqliteKeyFeed::version() {
    const auto where = fmt::format("store {}", state_->path);
    auto file = identity_of(state_->path);
    if (!file) return std::unexpected{std::move(file).error().within(where)};
    if (*file != state_->file)
        return std::unexpected{
            base::Error{ErrorCode::unavailable, "the file was replaced while it was in use; restart the gateway"}
                .within(where)};
    auto newest = state_->version();
    if (!newest) return std::unexpected{std::move(newest).error().within(where)};
    return newest;
}

Result<std::int64_t> SqliteKeyFeed::read(std::int64_t after, const std::function<void(const model::KeyRow&)>& row) {
    const auto where = fmt::format("store {}", state_->path);
    auto* database = state_->database.get();
    // One transaction, so that the version belongs to the rows.
    if (auto begun = execute(database, "BEGIN"); !begun) return std::unexpected{std::move(begun).error().within(where)};
    auto newest = state_->rows(after, row);
    static_cast<void>(execute(database, "ROLLBACK"));
    if (!newest) return std::unexpected{std::move(newest).error().within(where)};
    return newest;
}

}  // namespace weir::store
