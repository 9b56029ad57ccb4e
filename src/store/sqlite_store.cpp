#include "store/sqlite_store.h"

#include "base/json_writer.h"
#include "store/record_columns.h"
#include "store/sqlite_handle.h"

#include <fmt/format.h>

#include <array>
#include <fcntl.h>
#include <unistd.h>

namespace weir::store {

namespace {

using base::ErrorCode;
using base::Result;
using base::Status;

constexpr int busy_timeout_ms = 2000;

// Numbered from 1, forward only; a released migration is never changed.
const std::array<std::string, 1>& migrations() {
    static const std::array<std::string, 1> all{create_requests_sql() + "; CREATE INDEX requests_time ON requests (time);"};
    return all;
}

Result<int> schema_version(sqlite3* database) {
    auto statement = prepare(database, "PRAGMA user_version");
    if (!statement) return std::unexpected{std::move(statement).error()};
    if (sqlite3_step(statement->get()) != SQLITE_ROW) return sqlite_error(database, "schema version");
    return sqlite3_column_int(statement->get(), 0);
}

Status migrate(sqlite3* database) {
    // Immediate, so that two processes that start together do not both migrate.
    if (auto begun = execute(database, "BEGIN IMMEDIATE"); !begun) return begun;
    auto version = schema_version(database);
    const int newest = static_cast<int>(migrations().size());
    Status step;
    if (!version) step = std::unexpected{std::move(version).error()};
    else if (*version > newest)
        step = base::fail(ErrorCode::unavailable, fmt::format("the store has schema {}, this weir knows {}: use the newer weir", *version, newest));
    for (int next = version.value_or(newest); step && next < newest; ++next) {
        const auto sql = migrations()[static_cast<std::size_t>(next)] + fmt::format("; PRAGMA user_version = {}", next + 1);
        step = execute(database, sql.c_str());
    }
    const auto ended = execute(database, step ? "COMMIT" : "ROLLBACK");
    return step ? ended : step;
}

int bind(sqlite3_stmt* statement, int index, const ColumnValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return sqlite3_bind_int64(statement, index, *number);
    if (const auto* real = std::get_if<double>(&value)) return sqlite3_bind_double(statement, index, *real);
    if (const auto* text = std::get_if<std::string>(&value))
        return sqlite3_bind_text(statement, index, text->data(), static_cast<int>(text->size()), SQLITE_TRANSIENT);
    return sqlite3_bind_null(statement, index);
}

// SQLite would create the file readable for all.
Status create_private_file(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return base::fail(ErrorCode::unavailable, fmt::format("store {}: cannot open: {}", path, std::error_code(errno, std::generic_category()).message()));
    ::close(descriptor);
    return {};
}

}  // namespace

struct SqliteStore::State {
    Database database;
    Statement insert;
    std::uint64_t skipped = 0;

    // SQLITE_DONE, or why not.
    int insert_one(const model::RequestRecord& record) {
        sqlite3_reset(insert.get());
        int index = 0;
        for (const auto& column : record_columns())
            if (const int bound = bind(insert.get(), ++index, column.value(record)); bound != SQLITE_OK) return bound;
        const int step = sqlite3_step(insert.get());
        sqlite3_reset(insert.get());
        return step;
    }
};

SqliteStore::SqliteStore(std::unique_ptr<State> state) : state_{std::move(state)} {}
SqliteStore::~SqliteStore() = default;
std::uint64_t SqliteStore::skipped() const noexcept { return state_->skipped; }

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path) {
    if (auto created = create_private_file(path); !created) return std::unexpected{std::move(created).error()};
    auto state = std::make_unique<State>();
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    state->database.reset(raw);
    const auto where = fmt::format("store {}", path);
    if (opened != SQLITE_OK) return sqlite_error(raw, where);
    sqlite3_busy_timeout(raw, busy_timeout_ms);
    for (const char* sql : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"})
        if (auto set = execute(raw, sql); !set) return std::unexpected{std::move(set).error().within(where)};
    if (auto migrated = migrate(raw); !migrated) return std::unexpected{std::move(migrated).error().within(where)};
    auto insert = prepare(raw, insert_request_sql());
    if (!insert) return std::unexpected{std::move(insert).error().within(where)};
    state->insert = *std::move(insert);
    return std::unique_ptr<SqliteStore>{new SqliteStore{std::move(state)}};
}

Status SqliteStore::insert(std::span<const model::RequestRecord> records) {
    auto* database = state_->database.get();
    if (auto begun = execute(database, "BEGIN IMMEDIATE"); !begun) return begun;
    std::uint64_t skipped = 0;
    for (const auto& record : records) {
        const int result = state_->insert_one(record);
        if (result == SQLITE_DONE) continue;
        // A row that breaks a rule or is too big will never fit; everything else may pass.
        if (result == SQLITE_CONSTRAINT || result == SQLITE_TOOBIG || result == SQLITE_MISMATCH) {
            ++skipped;
            continue;
        }
        auto error = sqlite_error(database, "insert");
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
    auto statement = prepare(database, "SELECT * FROM requests WHERE request_id = ?");
    if (!statement) return std::unexpected{std::move(statement).error()};
    sqlite3_bind_text(statement->get(), 1, request_id.data(), static_cast<int>(request_id.size()), SQLITE_TRANSIENT);
    const int step = sqlite3_step(statement->get());
    if (step == SQLITE_DONE) return std::optional<std::string>{};
    if (step != SQLITE_ROW) return sqlite_error(database, "find");
    base::JsonWriter json;
    json.begin_object();
    for (int i = 0; i < sqlite3_column_count(statement->get()); ++i) {
        const int type = sqlite3_column_type(statement->get(), i);
        if (type == SQLITE_NULL) continue;
        json.key(sqlite3_column_name(statement->get(), i));
        if (type == SQLITE_INTEGER) json.number(sqlite3_column_int64(statement->get(), i));
        else if (type == SQLITE_FLOAT) json.number(sqlite3_column_double(statement->get(), i));
        else {
            const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement->get(), i));
            json.string({text, static_cast<std::size_t>(sqlite3_column_bytes(statement->get(), i))});
        }
    }
    json.end_object();
    return std::optional{std::move(json).take()};
}

}  // namespace weir::store
