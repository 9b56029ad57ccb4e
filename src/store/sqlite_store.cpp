#include "store/sqlite_store.h"

#include "store/sqlite_handle.h"
#include "store/store_file.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace weir::store {

namespace {

using base::ErrorCode;
using base::Result;
using base::Status;

constexpr std::string_view insert_record =
    "INSERT INTO request_records (time_ns, request_id, tenant, team, application, key, alias, pool, status, outcome, "
    "reason, prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, record) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (request_id) DO NOTHING";

// Binds the values of one row, one after another. Texts are not copied: they live until the statement has run. What is
// not known is NULL.
class Row {
public:
    explicit Row(sqlite3_stmt* statement) noexcept : statement_{statement} {}
    Row& text(std::string_view value) {
        ++index_;
        if (!value.empty())
            sqlite3_bind_text(statement_, index_, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
        return *this;
    }
    Row& number(std::int64_t value) {
        sqlite3_bind_int64(statement_, ++index_, value);
        return *this;
    }
    Row& count(const std::optional<std::uint64_t>& value) {
        ++index_;
        if (value) sqlite3_bind_int64(statement_, index_, static_cast<std::int64_t>(*value));
        return *this;
    }
    Row& nothing() noexcept {
        ++index_;
        return *this;
    }

private:
    sqlite3_stmt* statement_;
    int index_ = 0;
};

// Where the row goes: at its time, and where that is taken, a little later.
std::int64_t place_of(const model::RequestRecord& record, unsigned tries) {
    constexpr unsigned neighbours = 4;
    constexpr std::size_t spread_ns = 1'000'000;
    const std::int64_t time = record.time.time_since_epoch().count();
    if (tries < neighbours) return time + tries;
    const auto mixed = std::hash<std::string_view>{}(record.request_id) * (2 * tries + 1);
    return time + static_cast<std::int64_t>((mixed >> 20U) % spread_ns);
}

void bind(sqlite3_stmt* statement, const model::RequestRecord& record, std::string_view json) {
    Row row{statement};
    row.number(place_of(record, 0)).text(record.request_id);
    row.text(record.caller.tenant).text(record.caller.team).text(record.caller.application).text(record.caller.key);
    row.text(record.alias).text(record.pool);
    if (record.status != 0)
        row.number(record.status);
    else
        row.nothing();
    row.text(model::name_of(record.outcome)).text(record.reason ? model::name_of(*record.reason) : "");
    row.count(record.prompt_tokens).count(record.cached_tokens);
    row.count(record.completion_tokens).count(record.reasoning_tokens).text(json);
}

// A row that breaks a rule of the table or is too big will never fit; every other failure may pass.
bool never_acceptable(int result) noexcept {
    return result == SQLITE_CONSTRAINT || result == SQLITE_TOOBIG || result == SQLITE_MISMATCH;
}

}  // namespace

struct SqliteStore::State {
    State(std::string of, const SqliteOptions& given) : path{std::move(of)}, options{given} {}

    std::string path;
    SqliteOptions options;
    Database database;  // before its statement, which must be gone first
    Statement insert;
    std::optional<StoreFile> file;
    std::uint64_t skipped = 0;

    Status open();
    Status check_file();
    [[nodiscard]] bool place_is_taken() const noexcept {
        const int why = sqlite3_extended_errcode(database.get());
        return why == SQLITE_CONSTRAINT_ROWID || why == SQLITE_CONSTRAINT_PRIMARYKEY;
    }
    // SQLITE_DONE, or why not.
    int insert_one(const ports::RecordRow& row) {
        constexpr unsigned most_tries = 64;
        sqlite3_clear_bindings(insert.get());
        bind(insert.get(), *row.record, row.json);
        int result = SQLITE_CONSTRAINT;
        for (unsigned tries = 1; tries < most_tries; ++tries) {
            result = sqlite3_step(insert.get());
            sqlite3_reset(insert.get());
            if (result != SQLITE_CONSTRAINT || !place_is_taken()) break;
            sqlite3_bind_int64(insert.get(), 1, place_of(*row.record, tries));
        }
        return result;
    }
};

Status SqliteStore::State::open() {
    insert.reset();
    database.reset();
    auto opened = open_sqlite(path, options);
    if (!opened) return std::unexpected{std::move(opened).error()};
    auto prepared = prepare(opened->get(), std::string{insert_record});
    if (!prepared) return std::unexpected{std::move(prepared).error().within(fmt::format("store {}", path))};
    file.emplace(path);
    database = *std::move(opened);
    insert = *std::move(prepared);
    return {};
}

// SQLite writes to the file that it has opened even when that has no name any more, and nobody would find the records.
// A file that is gone is waited for, not made anew: a fresh one would be in the way of the one that is to come back.
Status SqliteStore::State::check_file() {
    const auto place = file->look();
    if (!place) return std::unexpected{place.error()};
    if (database && *place == StoreFile::Place::same) return {};
    return open();
}

SqliteStore::SqliteStore(std::unique_ptr<State> state) : state_{std::move(state)} {}
SqliteStore::~SqliteStore() = default;
std::uint64_t SqliteStore::skipped() const noexcept { return state_->skipped; }

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path, const SqliteOptions& options) {
    auto state = std::make_unique<State>(path, options);
    if (auto opened = state->open(); !opened) return std::unexpected{std::move(opened).error()};
    return std::unique_ptr<SqliteStore>{new SqliteStore{std::move(state)}};
}

Status SqliteStore::insert(std::span<const ports::RecordRow> rows) {
    if (auto there = state_->check_file(); !there) return there;
    auto* database = state_->database.get();
    if (auto begun = execute(database, "BEGIN IMMEDIATE"); !begun) return begun;
    std::uint64_t skipped = 0;
    for (const auto& row : rows) {
        const int result = state_->insert_one(row);
        if (result == SQLITE_DONE) continue;
        if (never_acceptable(result)) {
            ++skipped;
            continue;
        }
        auto error = sqlite_error(database, "insert");
        // SQLite itself may have rolled back already; then this fails, and that is as well.
        static_cast<void>(execute(database, "ROLLBACK"));
        return error;
    }
    if (auto committed = execute(database, "COMMIT"); !committed) {
        static_cast<void>(execute(database, "ROLLBACK"));
        return committed;
    }
    state_->skipped += skipped;
    return {};
}

Result<bool> SqliteStore::contains(std::string_view request_id) {
    const auto found = find_json(request_id);
    if (!found) return std::unexpected{found.error()};
    return found->has_value();
}

Result<std::optional<std::string>> SqliteStore::find_json(std::string_view request_id) {
    if (auto there = state_->check_file(); !there) return std::unexpected{std::move(there).error()};
    auto* database = state_->database.get();
    auto statement = prepare(database, "SELECT record FROM request_records WHERE request_id = ?");
    if (!statement) return std::unexpected{std::move(statement).error()};
    auto* row = statement->get();
    sqlite3_bind_text(row, 1, request_id.data(), static_cast<int>(request_id.size()), SQLITE_TRANSIENT);
    const int step = sqlite3_step(row);
    if (step == SQLITE_DONE) return std::optional<std::string>{};
    if (step != SQLITE_ROW) return sqlite_error(database, "find");
    return std::optional{std::string{text_of(row, 0)}};
}

}  // namespace weir::store
