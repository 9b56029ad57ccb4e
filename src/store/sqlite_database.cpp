#include "store/sqlite_database.h"

#include "store/migrations.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace weir::store {

namespace {

using base::ErrorCode;
using base::Result;
using base::Status;

Result<int> schema_version(sqlite3* database) {
    auto statement = prepare(database, "PRAGMA user_version");
    if (!statement) return std::unexpected{std::move(statement).error()};
    if (sqlite3_step(statement->get()) != SQLITE_ROW) return sqlite_error(database, "schema version");
    return sqlite3_column_int(statement->get(), 0);
}

// From `version` to the newest, within one transaction.
Status migrate_from(sqlite3* database, int version) {
    const auto steps = migrations();
    const int newest = steps.back().number;
    if (version > newest) {
        constexpr std::string_view text =
            "its schema is version {}, newer than the {} that this weir knows; use the weir that wrote it";
        return base::fail(ErrorCode::unavailable, fmt::format(text, version, newest));
    }
    for (const auto& step : steps) {
        if (step.number <= version) continue;
        const auto sql = fmt::format("{}; PRAGMA user_version = {}", step.sql, step.number);
        if (auto done = execute(database, sql.c_str()); !done) return done;
    }
    return {};
}

Status migrate(sqlite3* database) {
    // Nothing to do is the usual case, and then no lock is asked for.
    const auto before = schema_version(database);
    if (before && *before == migrations().back().number) return {};
    // Immediate, so that two processes that start together do not both migrate.
    if (auto begun = execute(database, "BEGIN IMMEDIATE"); !begun) return begun;
    const auto version = schema_version(database);
    auto migrated = version ? migrate_from(database, *version) : Status{std::unexpected{version.error()}};
    auto ended = execute(database, migrated ? "COMMIT" : "ROLLBACK");
    return migrated ? ended : migrated;
}

Status cannot_open(int error, ErrorCode code = ErrorCode::unavailable) {
    return base::fail(code, "cannot be opened: " + std::error_code(error, std::generic_category()).message());
}

// SQLite would create the file readable for all; its -wal and -shm files take over the mode of this one.
// A file that exists is never opened here: closing it would end the locks of this process's other connections to it,
// and another process would then take the log away from under them.
Status make_private_file(const std::string& path, bool create) {
    struct stat about{};
    if (::stat(path.c_str(), &about) == 0) {
        if (S_ISDIR(about.st_mode)) return cannot_open(EISDIR);
        return ::access(path.c_str(), R_OK | W_OK) == 0 ? Status{} : cannot_open(errno);
    }
    if (errno == ENOENT && !create) return cannot_open(ENOENT, ErrorCode::not_found);
    if (errno != ENOENT) return cannot_open(errno);
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor >= 0) ::close(descriptor);
    return descriptor >= 0 || errno == EEXIST ? Status{} : cannot_open(errno);
}

// Nothing is written to the file before this.
Status must_be_ours(sqlite3* database) {
    const auto version = schema_version(database);
    if (!version) return std::unexpected{version.error()};
    if (*version > 0) return {};
    return base::fail(
        ErrorCode::unavailable,
        "the file in its place is none of weir's (yet); put the store back, or restart weir to begin a new "
        "one");
}

// SQLite's own statistics of its memory take a lock at each of its allocations.
void leave_statistics_out() noexcept {
    static const int done = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);  // too late once something else has begun
    static_cast<void>(done);
}

Result<Database> open_migrated(const std::string& path, const SqliteOptions& options) {
    if (path.empty() || path == ":memory:")
        return base::fail(ErrorCode::unavailable, "records need a file, write sqlite:PATH");
    if (auto made = make_private_file(path, options.create); !made) return std::unexpected{std::move(made).error()};
    leave_statistics_out();
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    Database database{raw};
    if (opened != SQLITE_OK) return sqlite_error(raw, "cannot be opened");
    sqlite3_busy_timeout(raw, static_cast<int>(options.busy_timeout.count()));
    // A page holds a dozen records, not three, and two system calls each write one. Files that exist keep their size.
    if (!options.fill)
        if (auto ours = must_be_ours(raw); !ours) return std::unexpected{std::move(ours).error()};
    // What is freed is not overwritten with zeros: a record that was deleted is no secret, and each insert would pay.
    std::string setup =
        "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = OFF;";
    if (options.max_pages != 0) setup += fmt::format("PRAGMA max_page_count = {};", options.max_pages);
    if (auto set = execute(raw, setup.c_str()); !set) return std::unexpected{std::move(set).error()};
    if (auto migrated = migrate(raw); !migrated) return std::unexpected{std::move(migrated).error()};
    return database;
}

}  // namespace

Result<Database> open_sqlite(const std::string& path, const SqliteOptions& options) {
    auto database = open_migrated(path, options);
    if (!database) return std::unexpected{std::move(database).error().within(fmt::format("store {}", path))};
    return database;
}

}  // namespace weir::store
