#include "store/sqlite_store.h"

#include "base/json_writer.h"
#include "store/record_columns.h"
#include "store/sqlite_handle.h"
#include "telemetry/record_json.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace weir::store {

namespace {

using base::Result;
using base::Status;

int bind(sqlite3_stmt* statement, int index, const ColumnValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return sqlite3_bind_int64(statement, index, *number);
    if (const auto* real = std::get_if<double>(&value)) return sqlite3_bind_double(statement, index, *real);
    if (const auto* view = std::get_if<std::string_view>(&value)) return bind_text(statement, index, *view);
    if (const auto* text = std::get_if<std::string>(&value)) return bind_text(statement, index, *text);
    return sqlite3_bind_null(statement, index);
}

// A row that breaks a rule of the table or is too big will never fit; every other failure may pass.
bool never_acceptable(int result) noexcept {
    return result == SQLITE_CONSTRAINT || result == SQLITE_TOOBIG || result == SQLITE_MISMATCH;
}

void write_member(base::JsonWriter& json, const Column& column, sqlite3_stmt* row, int index) {
    if (sqlite3_column_type(row, index) == SQLITE_NULL) return;
    json.key(column.name);
    switch (column.kind) {
        case ColumnKind::text: json.string(text_of(row, index)); break;
        case ColumnKind::integer: json.number(sqlite3_column_int64(row, index)); break;
        case ColumnKind::boolean: json.boolean(sqlite3_column_int64(row, index) != 0); break;
        case ColumnKind::milliseconds: telemetry::write_milliseconds(json, sqlite3_column_double(row, index)); break;
        case ColumnKind::json: json.raw(text_of(row, index)); break;
    }
}

}  // namespace

struct SqliteStore::State {
    State(Database opened, Statement prepared) : database{std::move(opened)}, insert{std::move(prepared)} {}

    Database database;  // before its statement, which must be gone first
    Statement insert;
    std::vector<ColumnValue> values;  // of the record that is being inserted
    std::uint64_t skipped = 0;

    // SQLITE_DONE, or why not.
    int insert_one(const model::RequestRecord& record) {
        values.clear();
        for (const auto& column : record_columns())
            values.push_back(column.value(record));
        int index = 0;
        for (const auto& value : values)
            if (const int bound = bind(insert.get(), ++index, value); bound != SQLITE_OK) return bound;
        const int result = sqlite3_step(insert.get());
        sqlite3_reset(insert.get());
        return result;
    }
};

SqliteStore::SqliteStore(std::unique_ptr<State> state) : state_{std::move(state)} {}
SqliteStore::~SqliteStore() = default;
std::uint64_t SqliteStore::skipped() const noexcept { return state_->skipped; }

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path, const SqliteOptions& options) {
    auto database = open_sqlite(path, options);
    if (!database) return std::unexpected{std::move(database).error()};
    auto insert = prepare(database->get(), insert_record_sql());
    if (!insert) return std::unexpected{std::move(insert).error().within(fmt::format("store {}", path))};
    auto state = std::make_unique<State>(*std::move(database), *std::move(insert));
    return std::unique_ptr<SqliteStore>{new SqliteStore{std::move(state)}};
}

Status SqliteStore::insert(std::span<const model::RequestRecord> records) {
    auto* database = state_->database.get();
    if (auto begun = execute(database, "BEGIN IMMEDIATE"); !begun) return begun;
    std::uint64_t skipped = 0;
    for (const auto& record : records) {
        const int result = state_->insert_one(record);
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

Result<std::optional<std::string>> SqliteStore::find_json(const std::string& request_id) {
    auto* database = state_->database.get();
    auto statement = prepare(database, select_record_sql());
    if (!statement) return std::unexpected{std::move(statement).error()};
    auto* row = statement->get();
    sqlite3_bind_text(row, 1, request_id.data(), static_cast<int>(request_id.size()), SQLITE_TRANSIENT);
    const int step = sqlite3_step(row);
    if (step == SQLITE_DONE) return std::optional<std::string>{};
    if (step != SQLITE_ROW) return sqlite_error(database, "find");
    base::JsonWriter json;
    json.begin_object();
    int index = 0;
    for (const auto& column : record_columns())
        write_member(json, column, row, index++);
    json.end_object();
    return std::optional{std::move(json).take()};
}

}  // namespace weir::store
