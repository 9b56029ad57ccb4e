#include "store/record_insert.h"

#include "store/sqlite_database.h"
#include "store/test_rows.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weir::store {
namespace {

using test::record_of;
using test::Rows;

// Records of different moments, in the order of their ids.
std::vector<model::RequestRecord> records(std::size_t count) {
    std::vector<model::RequestRecord> made;
    for (std::size_t i = 0; i < count; ++i) {
        made.push_back(record_of("r" + std::to_string(i)));
        made.back().time += std::chrono::microseconds{i};
    }
    return made;
}

class RecordInsertTest : public testing::Test {
protected:
    RecordInsertTest() {
        std::string path = (std::filesystem::temp_directory_path() / "weir-insert-XXXXXX").string();
        directory_ = ::mkdtemp(path.data());
        database_ = open_sqlite(directory_ / "weir.db", {}).value();
        insert_.emplace(RecordInsert::prepare(database_.get()).value());
    }
    ~RecordInsertTest() override { std::filesystem::remove_all(directory_); }
    // How many were skipped.
    std::uint64_t run(Rows& rows) {
        EXPECT_TRUE(execute(database_.get(), "BEGIN IMMEDIATE"));
        const auto skipped = insert_->run(rows.get());
        EXPECT_TRUE(skipped) << (skipped ? "" : skipped.error().message());
        EXPECT_TRUE(execute(database_.get(), "COMMIT"));
        return skipped.value_or(0);
    }
    std::uint64_t run(const std::vector<model::RequestRecord>& given) {
        Rows rows{given};
        return run(rows);
    }
    std::string text(const std::string& sql) {
        auto statement = prepare(database_.get(), sql);
        EXPECT_TRUE(statement) << sql;
        EXPECT_EQ(sqlite3_step(statement->get()), SQLITE_ROW) << sql;
        return std::string{text_of(statement->get(), 0)};
    }
    std::string count(const std::string& which = "true") {
        return text("SELECT count(*) FROM request_records WHERE " + which);
    }

    std::filesystem::path directory_;
    Database database_;
    std::optional<RecordInsert> insert_;
};

TEST_F(RecordInsertTest, AnyNumberOfRowsIsStored) {
    for (const std::size_t many : {0U, 1U, 15U, 16U, 17U, 32U, 100U}) {
        ASSERT_TRUE(execute(database_.get(), "DELETE FROM request_records"));
        EXPECT_EQ(run(records(many)), 0U);
        EXPECT_EQ(count(), std::to_string(many));
    }
}

// Pages are filled to their end whatever the order in which requests end.
TEST_F(RecordInsertTest, TheOrderWithinABatchMakesNoDifference) {
    auto given = records(400);
    const auto pages = [&] {
        EXPECT_TRUE(execute(database_.get(), "DELETE FROM request_records; VACUUM"));
        EXPECT_EQ(run(given), 0U);
        EXPECT_EQ(count("request_id = 'r' || ((time_ns - 1796000000123000000) / 1000)"), "400");
        return text("PRAGMA page_count");
    };
    const auto in_order = pages();
    std::reverse(given.begin(), given.end());
    EXPECT_EQ(pages(), in_order);
}

struct Case {
    std::string name;
    std::function<void(std::vector<model::RequestRecord>&)> change;
    std::string stored;
    std::uint64_t skipped = 0;
};

// One of forty is different: the others of its group are stored as if it were not.
TEST_F(RecordInsertTest, NoRowIsInTheWayOfItsNeighbours) {
    const auto set_time_of_all = [](auto& given) {
        for (auto& record : given)
            record.time = given[0].time;
    };
    const auto set_pool = [](auto& given) { given[20].pool = telemetry::test::kept(std::string(3900, 'x')); };
    const std::vector<Case> cases{
        {"stored already", [](auto& given) { given[20].request_id = "before"; }, "40"},
        {"twice in a batch", [](auto& given) { given[20].request_id = "r19"; }, "40"},
        {"its moment is taken", [](auto& given) { given[20].time = given[19].time; }, "41"},
        {"all of one moment", set_time_of_all, "41"},
        {"without an id", [](auto& given) { given[20].request_id = ""; }, "40", 1},
        {"too large for a row", set_pool, "40", 1},
    };
    sqlite3_limit(database_.get(), SQLITE_LIMIT_LENGTH, 4000);
    for (const auto& wanted : cases) {
        ASSERT_TRUE(execute(database_.get(), "DELETE FROM request_records"));
        auto before = record_of("before");
        before.time -= std::chrono::hours{1};
        before.status = 404;
        run(std::vector{before});
        auto given = records(40);
        wanted.change(given);
        EXPECT_EQ(run(given), wanted.skipped) << wanted.name;
        EXPECT_EQ(count(), wanted.stored) << wanted.name;
        EXPECT_EQ(count("request_id = 'before' AND status = 404"), "1") << wanted.name;
        EXPECT_EQ(count("request_id = 'r39'"), "1") << wanted.name;
        EXPECT_EQ(text("PRAGMA integrity_check"), "ok") << wanted.name;
    }
}

// Whether or not the last page has room for one more.
TEST_F(RecordInsertTest, AFullDiskIsAnErrorAndNothingOfTheBatchStays) {
    const auto all = records(400);
    for (const std::size_t before : {40U, 41U, 42U, 43U}) {
        ASSERT_TRUE(execute(database_.get(), "PRAGMA max_page_count = 1000; DELETE FROM request_records; VACUUM"));
        run(std::vector(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before)));
        ASSERT_TRUE(execute(database_.get(), "PRAGMA max_page_count = 1"));  // no more than there are
        Rows rows{all};
        ASSERT_TRUE(execute(database_.get(), "BEGIN IMMEDIATE"));
        const auto refused = insert_->run(rows.get());
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), base::ErrorCode::unavailable);
        static_cast<void>(execute(database_.get(), "ROLLBACK"));
        EXPECT_EQ(count(), std::to_string(before));
    }
}

}  // namespace
}  // namespace weir::store
