#include "store/sqlite_store.h"

#include "store/migrations.h"
#include "store/sqlite_handle.h"
#include "store/test_rows.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

namespace weir::store {
namespace {

using std::chrono::milliseconds;
using telemetry::test::full_record;
using telemetry::test::sparse_record;
using test::record_of;
using test::Rows;

template <class Records>
base::Status insert(SqliteStore& store, const Records& records) {
    return store.insert(Rows{records}.get());
}

class SqliteStoreTest : public testing::Test {
protected:
    SqliteStoreTest() {
        std::string path = (std::filesystem::temp_directory_path() / "weir-store-XXXXXX").string();
        directory_ = ::mkdtemp(path.data());
    }
    ~SqliteStoreTest() override { std::filesystem::remove_all(directory_); }
    [[nodiscard]] std::string path() const { return directory_ / "weir.db"; }
    [[nodiscard]] std::unique_ptr<SqliteStore> open(const SqliteOptions& options = {
                                                        .busy_timeout = milliseconds{20}}) const {
        auto store = SqliteStore::open(path(), options);
        EXPECT_TRUE(store) << (store ? "" : store.error().message());
        return *std::move(store);
    }
    // Another process's view of the file.
    [[nodiscard]] Database other() const {
        sqlite3* raw = nullptr;
        EXPECT_EQ(sqlite3_open(path().c_str(), &raw), SQLITE_OK);
        return Database{raw};
    }
    static std::int64_t number(sqlite3* database, const std::string& sql) {
        auto statement = prepare(database, sql);
        EXPECT_TRUE(statement) << sql;
        EXPECT_EQ(sqlite3_step(statement->get()), SQLITE_ROW) << sql;
        return sqlite3_column_int64(statement->get(), 0);
    }
    [[nodiscard]] std::int64_t rows() const { return number(other().get(), "SELECT count(*) FROM requests"); }
    std::filesystem::path directory_;
};

TEST_F(SqliteStoreTest, GivesARecordBackAsTheAccessLogSaysIt) {
    const auto store = open();
    const std::array records{full_record(), sparse_record()};
    ASSERT_TRUE(insert(*store, records));
    for (const auto& record : records) {
        const auto found = store->find_json(record.request_id);
        ASSERT_TRUE(found && found->has_value());
        EXPECT_EQ(**found, telemetry::to_json(record));
    }
    EXPECT_EQ(store->skipped(), 0U);
}

// A clock that stands still, or was set back, is no reason to lose a record or to store it twice.
TEST_F(SqliteStoreTest, RecordsOfTheSameMomentAreAllStoredAndLieNearIt) {
    const auto store = open();
    std::vector<model::RequestRecord> records;
    for (int i = 0; i < 3000; ++i)
        records.push_back(record_of("same-" + std::to_string(i)));
    ASSERT_TRUE(insert(*store, records));
    ASSERT_TRUE(insert(*store, records));
    EXPECT_EQ(rows(), 3000);
    EXPECT_EQ(store->skipped(), 0U);
    EXPECT_EQ(number(other().get(), "SELECT max(time_ns) - min(time_ns) < 1000000 FROM requests"), 1);
    auto earlier = record_of("earlier");
    earlier.time -= std::chrono::hours{1};
    ASSERT_TRUE(insert(*store, std::array{earlier}));
    EXPECT_EQ(number(other().get(), "SELECT count(*) FROM requests WHERE time_ns < 1796000000000000000"), 1);
}

TEST_F(SqliteStoreTest, KnowsWhichRecordsItHas) {
    const auto store = open();
    ASSERT_TRUE(insert(*store, std::array{record_of("a")}));
    EXPECT_TRUE(store->contains("a").value());
    EXPECT_FALSE(store->contains("b").value());
}

TEST_F(SqliteStoreTest, AnInterruptedRequestHasNoStatus) {
    const auto store = open();
    auto record = sparse_record();
    record.outcome = model::Outcome::interrupted;
    record.status = 0;
    ASSERT_TRUE(insert(*store, std::array{record}));
    EXPECT_EQ(number(other().get(), "SELECT status IS NULL AND outcome = 'interrupted' FROM requests"), 1);
}

// Columns that are stored and columns that read the JSON say the same.
TEST_F(SqliteStoreTest, EveryFieldOfTheRecordIsAColumn) {
    const auto store = open();
    ASSERT_TRUE(insert(*store, std::array{full_record()}));
    const auto database = other();
    EXPECT_EQ(number(database.get(), "SELECT count(*) FROM requests, json_each(record)"), 44);
    EXPECT_EQ(number(database.get(),
                     "SELECT count(*) FROM requests, json_each(record) AS member WHERE member.key NOT IN "
                     "(SELECT name FROM pragma_table_xinfo('requests'))"),
              0);
    EXPECT_EQ(number(database.get(),
                     "SELECT stream = 1 AND status = 200 AND tpot_ms = 20.125 AND tenant = 'acme' AND "
                     "finish_reason = 'stop' AND json_array_length(attempts) = 2 FROM requests"),
              1);
    EXPECT_EQ(
        number(database.get(),
               "SELECT count(*) FROM requests WHERE tenant IS record ->> 'tenant' AND pool IS record ->> 'pool' "
               "AND alias IS record ->> 'alias' AND time_ns / 1000000 = 1796000000123 AND key IS record ->> 'key' AND "
               "prompt_tokens IS record ->> 'prompt_tokens' AND cached_tokens IS record ->> 'cached_tokens' AND "
               "team IS record ->> 'team' AND application IS record ->> 'application'"),
        1);
}

TEST_F(SqliteStoreTest, AFileThatIsGoneIsWaitedFor) {
    const auto store = open();
    ASSERT_TRUE(insert(*store, std::array{record_of("a")}));
    ASSERT_TRUE(execute(other().get(), "PRAGMA wal_checkpoint(TRUNCATE)"));
    const auto aside = directory_ / "aside.db";
    std::filesystem::rename(path(), aside);
    const auto refused = insert(*store, std::array{record_of("b")});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("gone"), std::string::npos) << refused.error().message();
    EXPECT_NE(refused.error().message().find(path()), std::string::npos) << refused.error().message();
    EXPECT_FALSE(std::filesystem::exists(path())) << "it is not made anew";
    std::filesystem::rename(aside, path());
    EXPECT_TRUE(insert(*store, std::array{record_of("b")}));
    EXPECT_EQ(rows(), 2);
}

TEST_F(SqliteStoreTest, AFileThatWasReplacedIsOpenedAnewOnceItIsOurs) {
    const auto store = open();
    ASSERT_TRUE(insert(*store, std::array{record_of("a")}));
    const auto restored = directory_ / "restored.db";
    ASSERT_TRUE(SqliteStore::open(restored.string(), {}));
    for (const auto* suffix : {"", "-wal", "-shm"})
        std::filesystem::remove(path() + suffix);
    std::ofstream{path()} << "not a database, and long enough to be seen as none: " << std::string(200, 'x');
    EXPECT_FALSE(insert(*store, std::array{record_of("b")}));
    std::filesystem::remove(path());
    std::ofstream{path()};  // a copy that has only begun
    const auto refused = insert(*store, std::array{record_of("b")});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("none of weir's"), std::string::npos) << refused.error().message();
    EXPECT_EQ(std::filesystem::file_size(path()), 0U) << "nothing is written to it";
    std::filesystem::rename(restored, path());
    EXPECT_TRUE(insert(*store, std::array{record_of("b")}));
    EXPECT_EQ(rows(), 1);
}

TEST_F(SqliteStoreTest, AnUnknownIdIsNoError) {
    const auto found = open()->find_json("nobody");
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->has_value());
}

TEST_F(SqliteStoreTest, WhatIsNotKnownIsNullAndNotZero) {
    const auto store = open();
    ASSERT_TRUE(insert(*store, std::array{sparse_record()}));
    for (const auto* column : {"ttft_ms", "prompt_tokens", "pool", "endpoint", "spec", "queue_ms", "max_tokens"})
        EXPECT_EQ(number(other().get(), std::string{"SELECT count(*) FROM requests WHERE "} + column + " IS NULL"), 1)
            << column;
}

TEST_F(SqliteStoreTest, IsIdempotentByRequestId) {
    const auto store = open();
    auto changed = record_of("a");
    changed.status = 500;
    ASSERT_TRUE(insert(*store, std::array{record_of("a"), record_of("b"), record_of("a")}));
    ASSERT_TRUE(insert(*store, std::array{changed, record_of("c")}));
    EXPECT_EQ(rows(), 3);
    EXPECT_EQ(number(other().get(), "SELECT status FROM requests WHERE request_id = 'a'"), 200)
        << "the first one stays";
    EXPECT_EQ(store->skipped(), 0U);
}

TEST_F(SqliteStoreTest, P032_ARecordThatCanNeverFitBlocksNoOther) {
    const auto store = open();
    auto nameless = record_of("");
    auto endless = record_of("endless");
    endless.duration_ms = std::numeric_limits<double>::quiet_NaN();
    const std::array records{record_of("a"), nameless, endless, record_of("unspeakable"), record_of("b")};
    Rows rows_of{records};
    rows_of.get()[3].json = {};
    ASSERT_TRUE(store->insert(rows_of.get()));
    EXPECT_EQ(rows(), 3);
    EXPECT_EQ(store->skipped(), 2U);
    EXPECT_EQ(number(other().get(), "SELECT duration_ms IS NULL FROM requests WHERE request_id = 'endless'"), 1);
}

TEST_F(SqliteStoreTest, KeepsAnyTextThatAClientMaySend) {
    const auto store = open();
    auto record = record_of("odd");
    record.client_request_id = "'); DROP TABLE requests; --\n\"\x01";
    ASSERT_TRUE(insert(*store, std::array{record}));
    EXPECT_EQ(store->find_json("odd")->value(), telemetry::to_json(record));
}

TEST_F(SqliteStoreTest, NumbersAreExact) {
    const auto store = open();
    auto record = record_of("big");
    record.prompt_tokens = std::numeric_limits<std::int64_t>::max();
    record.duration_ms = 86'400'000.125;
    ASSERT_TRUE(insert(*store, std::array{record}));
    EXPECT_EQ(store->find_json("big")->value(), telemetry::to_json(record));
}

TEST_F(SqliteStoreTest, TheFilesAreForTheirOwnerOnly) {
    const auto mask = ::umask(0);
    const auto store = open();
    ASSERT_TRUE(insert(*store, std::array{full_record()}));
    ::umask(mask);
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator{directory_}) {
        struct stat about{};
        ASSERT_EQ(::stat(entry.path().c_str(), &about), 0);
        EXPECT_EQ(about.st_mode & 0777U, 0600U) << entry.path();
        ++files;
    }
    EXPECT_EQ(files, 3) << "the database, its -wal and its -shm";
}

TEST_F(SqliteStoreTest, ALockedDatabaseIsAnErrorAndTheSameBatchFitsLater) {
    const auto store = open();
    const auto rival = other();
    ASSERT_TRUE(execute(rival.get(), "BEGIN IMMEDIATE"));
    const std::array batch{record_of("a"), record_of("b")};
    const auto refused = insert(*store, batch);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), base::ErrorCode::unavailable);
    EXPECT_NE(refused.error().message().find("locked"), std::string::npos) << refused.error().message();
    ASSERT_TRUE(execute(rival.get(), "ROLLBACK"));
    EXPECT_TRUE(insert(*store, batch));
    EXPECT_EQ(rows(), 2);
}

TEST_F(SqliteStoreTest, AReaderOfALongSnapshotHoldsUpNoInsert) {
    const auto store = open();
    const auto reader = other();
    ASSERT_TRUE(execute(reader.get(), "BEGIN; SELECT count(*) FROM requests"));
    EXPECT_TRUE(insert(*store, std::array{full_record()}));
    EXPECT_EQ(number(reader.get(), "SELECT count(*) FROM requests"), 0) << "its snapshot";
}

TEST_F(SqliteStoreTest, AFullDiskStoresNothingOfTheBatchAndLosesNothingOlder) {
    std::vector<std::string> stored;
    {
        const auto store = open({.busy_timeout = milliseconds{20}, .max_pages = 40});
        base::Status last;
        std::string id;
        for (int batch = 0; last && batch < 1000; ++batch) {
            id = std::to_string(batch);
            last = insert(*store, std::array{record_of(id + "-a"), record_of(id + "-b"), record_of(id + "-c")});
            if (last) stored.push_back(id);
        }
        ASSERT_FALSE(last) << "the cap was never reached";
        EXPECT_EQ(last.error().code(), base::ErrorCode::unavailable);
        EXPECT_NE(last.error().message().find("full"), std::string::npos) << last.error().message();
        EXPECT_EQ(rows(), static_cast<std::int64_t>(3 * stored.size()));
        // The same batch: another one may find room in pages that are there.
        EXPECT_FALSE(insert(*store, std::array{record_of(id + "-a"), record_of(id + "-b"), record_of(id + "-c")}))
            << "and it is an error each time";
    }
    const auto store = open();
    EXPECT_TRUE(insert(*store, std::array{record_of("more")})) << "with room again it goes on";
    EXPECT_EQ(rows(), static_cast<std::int64_t>(3 * stored.size()) + 1);
    EXPECT_EQ(store->skipped(), 0U);
}

TEST_F(SqliteStoreTest, ANewerSchemaIsRefusedAndLeftAlone) {
    { const auto store = open(); }
    ASSERT_TRUE(execute(other().get(), "PRAGMA user_version = 99"));
    const auto store = SqliteStore::open(path());
    ASSERT_FALSE(store);
    EXPECT_NE(store.error().message().find("99"), std::string::npos) << store.error().message();
    EXPECT_NE(store.error().message().find(path()), std::string::npos) << store.error().message();
    EXPECT_EQ(number(other().get(), "PRAGMA user_version"), 99);
}

TEST_F(SqliteStoreTest, OpeningAgainChangesNothing) {
    ASSERT_TRUE(insert(*open(), std::array{full_record()}));
    const auto store = open();
    EXPECT_EQ(rows(), 1);
    EXPECT_EQ(number(other().get(), "PRAGMA user_version"), migrations().back().number);
}

TEST_F(SqliteStoreTest, AMigrationIsAllOrNothing) {
    // A table of that name from somebody else: the first migration must fail and leave the file as it was.
    { std::ofstream{path()}; }
    ASSERT_TRUE(execute(other().get(), "CREATE TABLE requests (mine INTEGER)"));
    EXPECT_FALSE(SqliteStore::open(path()));
    EXPECT_EQ(number(other().get(), "PRAGMA user_version"), 0);
    EXPECT_EQ(number(other().get(), "SELECT count(*) FROM sqlite_schema"), 1);
}

struct OpenCase {
    std::string name;
    std::string path;  // within the directory
    std::string says;
};

TEST_F(SqliteStoreTest, WhatCannotBeOpenedIsAnErrorThatNamesThePath) {
    std::ofstream{directory_ / "text.db"} << std::string(5000, 'x');
    const std::vector<OpenCase> cases{
        {"no such directory", directory_ / "missing" / "weir.db", "No such file"},
        {"a directory", directory_, "directory"},
        {"not a database", directory_ / "text.db", "not a database"},
        {"no path", "", "sqlite:PATH"},
        {"memory", ":memory:", "sqlite:PATH"},
    };
    for (const auto& wanted : cases) {
        const auto store = SqliteStore::open(wanted.path);
        ASSERT_FALSE(store) << wanted.name;
        EXPECT_EQ(store.error().code(), base::ErrorCode::unavailable) << wanted.name;
        EXPECT_NE(store.error().message().find(wanted.path), std::string::npos) << store.error().message();
        EXPECT_NE(store.error().message().find(wanted.says), std::string::npos) << store.error().message();
    }
}

// The process dies (SIGKILL) somewhere after its fifth acknowledged batch: every acknowledged one is there, whole.
TEST_F(SqliteStoreTest, AcknowledgedBatchesSurviveTheDeathOfTheProcess) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        auto store = SqliteStore::open(path());
        for (int batch = 0; store && batch < 100'000; ++batch) {
            const auto id = std::to_string(batch);
            const bool stored = insert(**store, std::array{record_of(id + "-a"), record_of(id + "-b")}).has_value();
            if (!stored || ::write(pipe[1], ".", 1) != 1) break;
        }
        ::_exit(1);
    }
    ASSERT_GT(child, 0);
    ::close(pipe[1]);
    char acknowledged = 0;
    for (int i = 0; i < 5; ++i)
        ASSERT_EQ(::read(pipe[0], &acknowledged, 1), 1) << "the child failed";
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    int more = 5;
    while (::read(pipe[0], &acknowledged, 1) == 1)
        ++more;
    ::close(pipe[0]);
    const auto store = open();
    for (int batch = 0; batch < more; ++batch)
        for (const auto* half : {"-a", "-b"})
            EXPECT_TRUE(store->find_json(std::to_string(batch) + half)->has_value()) << batch << half;
    EXPECT_EQ(rows() % 2, 0) << "no half of a batch";
    const auto database = other();
    auto check = prepare(database.get(), "PRAGMA integrity_check");
    ASSERT_EQ(sqlite3_step(check->get()), SQLITE_ROW);
    EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(check->get(), 0)), "ok");
}

}  // namespace
}  // namespace weir::store
