#include "store/sqlite_key_feed.h"

#include "store/key_columns.h"
#include "store/store_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace weir::store {

using base::Result;
using base::Status;

namespace {

constexpr auto select_version = "SELECT newest FROM key_changes";

std::string select_rows(bool all) {
    const std::string columns =
        "SELECT s.sha256, k.name, k.tenant, k.team, k.application, k.workload, k.permissions, k.expires, s.expires, "
        "k.revoked IS NOT NULL FROM keys k JOIN key_secrets s ON s.key = k.number WHERE ";
    return columns + (all ? "k.revoked IS NULL" : "k.change > ?");
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
    State(std::string of, const SqliteOptions& given) : path{std::move(of)}, options{given} { options.create = false; }

    std::string path;
    SqliteOptions options;
    std::optional<StoreFile> file;
    Database database;  // before its statements, which must be gone first
    Statement select_version;

    // `fill` as in SqliteOptions.
    Status open(bool fill) {
        if (file) file->closing();
        select_version.reset();
        database.reset();
        StoreFile next{path};
        options.fill = fill;
        auto opened = open_sqlite(path, options);
        if (!opened) return std::unexpected{std::move(opened).error()};
        auto select = prepare(opened->get(), store::select_version);
        if (!select) return std::unexpected{std::move(select).error().within(fmt::format("store {}", path))};
        next.opened();
        file = std::move(next);
        database = *std::move(opened);
        select_version = *std::move(select);
        return {};
    }
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
    auto state = std::make_unique<State>(path, options);
    if (auto opened = state->open(true); !opened) return std::unexpected{std::move(opened).error()};
    return std::unique_ptr<SqliteKeyFeed>{new SqliteKeyFeed{std::move(state)}};
}

Result<std::int64_t> SqliteKeyFeed::version() {
    const auto place = state_->file->look();
    if (!place) return std::unexpected{place.error()};
    if (*place == StoreFile::Place::replaced || !state_->database) {
        if (auto opened = state_->open(false); !opened) return std::unexpected{std::move(opened).error()};
        return 0;
    }
    auto newest = state_->version();
    if (!newest) return std::unexpected{std::move(newest).error().within(fmt::format("store {}", state_->path))};
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
