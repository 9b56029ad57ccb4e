#include "store/sqlite_store.h"

#include "store/record_insert.h"
#include "store/sqlite_handle.h"
#include "store/sqlite_record_reader.h"
#include "store/store_file.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace weir::store {

namespace {

using base::Result;
using base::Status;

}  // namespace

struct SqliteStore::State {
    State(std::string of, const SqliteOptions& given) : path{std::move(of)}, options{given} {}

    std::string path;
    SqliteOptions options;
    Database database;  // before its statements, which must be gone first
    std::optional<RecordInsert> insert;
    std::optional<StoreFile> file;
    std::uint64_t skipped = 0;

    Status open(bool fill);  // as in SqliteOptions
    Status check_file();
};

Status SqliteStore::State::open(bool fill) {
    if (file) file->closing();
    insert.reset();
    database.reset();
    StoreFile next{path};
    options.fill = fill;
    auto opened = open_sqlite(path, options);
    if (!opened) return std::unexpected{std::move(opened).error()};
    auto prepared = RecordInsert::prepare(opened->get());
    if (!prepared) return std::unexpected{std::move(prepared).error().within(fmt::format("store {}", path))};
    next.opened();
    file = std::move(next);
    database = *std::move(opened);
    insert = *std::move(prepared);
    return {};
}

// SQLite writes to the file that it has opened even when that has no name any more, and nobody would find the records.
// A file that is gone is waited for, not made anew: a fresh one would be in the way of the one that is to come back. So
// is one that came without tables of ours.
Status SqliteStore::State::check_file() {
    const auto place = file->look();
    if (!place) return std::unexpected{place.error()};
    if (database && *place == StoreFile::Place::same) return {};
    return open(false);
}

SqliteStore::SqliteStore(std::unique_ptr<State> state) : state_{std::move(state)} {}
SqliteStore::~SqliteStore() = default;
std::uint64_t SqliteStore::skipped() const noexcept { return state_->skipped; }

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path, const SqliteOptions& options) {
    auto state = std::make_unique<State>(path, options);
    if (auto opened = state->open(true); !opened) return std::unexpected{std::move(opened).error()};
    return std::unique_ptr<SqliteStore>{new SqliteStore{std::move(state)}};
}

Status SqliteStore::insert(std::span<const ports::RecordRow> rows) {
    if (auto there = state_->check_file(); !there) return there;
    auto* database = state_->database.get();
    if (auto begun = execute(database, "BEGIN IMMEDIATE"); !begun) return begun;
    const auto skipped = state_->insert->run(rows);
    if (!skipped) {
        // SQLite itself may have rolled back already; then this fails, and that is as well.
        static_cast<void>(execute(database, "ROLLBACK"));
        return std::unexpected{skipped.error()};
    }
    if (auto committed = execute(database, "COMMIT"); !committed) {
        static_cast<void>(execute(database, "ROLLBACK"));
        return committed;
    }
    state_->skipped += *skipped;
    return {};
}

Result<bool> SqliteStore::contains(std::string_view request_id) {
    const auto found = find_json(request_id);
    if (!found) return std::unexpected{found.error()};
    return found->has_value();
}

Result<std::optional<std::string>> SqliteStore::find_json(std::string_view request_id) {
    if (auto there = state_->check_file(); !there) return std::unexpected{std::move(there).error()};
    return select_record(state_->database.get(), request_id);
}

}  // namespace weir::store
