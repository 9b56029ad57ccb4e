#include "store/migrations.h"

#include "store/record_schema.h"
#include "store/sqlite_handle.h"
#include "store/sqlite_store.h"
#include "store/test_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace weir::store {
namespace {

Database database_at(const std::string& path) {
    sqlite3* raw = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
    return Database{raw};
}

std::int64_t number(const std::string& path, const std::string& sql) {
    const auto database = database_at(path);
    auto statement = prepare(database.get(), sql);
    EXPECT_TRUE(statement) << sql;
    EXPECT_EQ(sqlite3_step(statement->get()), SQLITE_ROW) << sql;
    return sqlite3_column_int64(statement->get(), 0);
}

// A released migration never changes. When this fails, what is new needs a migration of its own.
TEST(Migrations, TheFirstIsWhatItWasWhenItWasReleased) {
    EXPECT_EQ(
        migrations().front().sql,
        R"(CREATE TABLE requests ("request_id" TEXT NOT NULL UNIQUE, "client_request_id" TEXT, "trace_id" TEXT, "time" TEXT NOT NULL, )"
        R"("config_version" TEXT, "tenant" TEXT, "team" TEXT, "application" TEXT, "key" TEXT, "workload" TEXT, "alias" TEXT, "endpoint" TEXT, )"
        R"("stream" INTEGER NOT NULL, "client_timeout_ms" REAL, "max_tokens" INTEGER, "features" TEXT NOT NULL, "temperature_class" TEXT, )"
        R"("pool" TEXT, "replica" TEXT, "region" TEXT, "engine_version" TEXT, "assigned_arm" TEXT, "decision" TEXT NOT NULL, "attempts" TEXT NOT NULL, )"
        R"("status" INTEGER NOT NULL, "outcome" TEXT NOT NULL, "reason" TEXT, "policy_outcome" TEXT, "prompt_bytes" INTEGER, "prompt_tokens" INTEGER, )"
        R"("cached_tokens" INTEGER, "completion_tokens" INTEGER, "reasoning_tokens" INTEGER, "delivered_tokens" INTEGER, "usage_source" TEXT NOT NULL, )"
        R"("finish_reason" TEXT, "queue_ms" REAL, "ttft_ms" REAL, "upstream_ttft_ms" REAL, "first_visible_ms" REAL, "tpot_ms" REAL, )"
        R"("duration_ms" REAL NOT NULL, "gateway_ms" REAL, "events" INTEGER, "spec" TEXT);CREATE INDEX requests_time ON requests (time))");
}

TEST(Migrations, TheSecondKeepsWhatTheFirstSchemaHad) {
    std::string directory = (std::filesystem::temp_directory_path() / "weir-migrations-XXXXXX").string();
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    const std::string path = directory + "/weir.db";
    {
        const auto old = database_at(path);
        ASSERT_TRUE(execute(old.get(), std::string{first_record_schema}.c_str()));
        ASSERT_TRUE(execute(
            old.get(),
            R"(INSERT INTO requests (request_id, time, tenant, key, stream, features, decision, attempts, status, outcome, usage_source, duration_ms, ttft_ms, reason)
               VALUES ('old-1', '2026-11-30T00:53:20.123Z', 'acme', 'acme-1', 1, '["tools"]', '{"eligible":[],"excluded":{}}', '[]', 404, 'refused', 'none', 1.5, NULL, 'model_not_found'),
                      ('old-2', '2026-11-30T00:53:21.123Z', 'acme', NULL, 0, '[]', '{"eligible":["a"],"excluded":{}}', '[{"pool":"a"}]', 200, 'ok', 'engine', 2, 7.25, NULL);
               PRAGMA user_version = 1)"));
    }
    auto store = SqliteStore::open(path);
    ASSERT_TRUE(store) << store.error().message();
    EXPECT_EQ(number(path, "SELECT count(*) FROM requests"), 2);
    EXPECT_EQ(
        (*store)->find_json("old-1")->value(),
        R"({"request_id":"old-1","time":"2026-11-30T00:53:20.123Z","tenant":"acme","key":"acme-1","stream":true,"features":["tools"],"decision":{"eligible":[],"excluded":{}},"attempts":[],"status":404,"outcome":"refused","reason":"model_not_found","usage_source":"none","duration_ms":1.5})");
    EXPECT_EQ(number(path,
                     "SELECT stream = 0 AND ttft_ms = 7.25 AND status = 200 FROM requests WHERE "
                     "request_id = 'old-2'"),
              1);
    EXPECT_EQ(number(path, "SELECT time_ns / 1000000 FROM requests WHERE request_id = 'old-2'"), 1'796'000'001'123);
    auto record = telemetry::test::sparse_record();
    for (const auto* id : {"new", "old-1"}) {
        record.request_id = telemetry::test::kept(std::string{id});
        const auto json = telemetry::to_json(record);
        EXPECT_TRUE((*store)->insert(std::array{ports::RecordRow{.record = &record, .json = json}}));
    }
    EXPECT_EQ(number(path, "SELECT count(*) FROM requests"), 3);
    std::filesystem::remove_all(directory);
}

TEST(Migrations, PagesAreLargeInANewFileAndAsTheyWereInAnOlderOne) {
    std::string directory = (std::filesystem::temp_directory_path() / "weir-pages-XXXXXX").string();
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    const std::string older = directory + "/older.db";
    {
        const auto database = database_at(older);
        ASSERT_TRUE(execute(database.get(), "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL"));
        for (const auto& step : migrations())
            ASSERT_TRUE(execute(database.get(), step.sql.c_str()));
        const auto version = "PRAGMA user_version = " + std::to_string(migrations().back().number);
        ASSERT_TRUE(execute(database.get(), version.c_str()));
    }
    for (const auto& [path, page_bytes] : {std::pair{older, 4096}, std::pair{directory + "/new.db", 16384}}) {
        const auto store = SqliteStore::open(path);
        ASSERT_TRUE(store) << store.error().message();
        const std::vector records(40, telemetry::test::full_record());
        test::Rows rows{records};
        EXPECT_TRUE((*store)->insert(rows.get()));
        EXPECT_EQ(number(path, "SELECT count(*) FROM requests"), 1);
        EXPECT_EQ(number(path, "PRAGMA page_size"), page_bytes);
    }
    std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace weir::store
