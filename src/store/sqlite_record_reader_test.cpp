#include "store/sqlite_record_reader.h"

#include "store/sqlite_store.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace weir::store {
namespace {

class SqliteRecordReaderTest : public testing::Test {
protected:
    SqliteRecordReaderTest() {
        std::string pattern = (std::filesystem::temp_directory_path() / "weir-reader-XXXXXX").string();
        directory_ = ::mkdtemp(pattern.data());
    }
    ~SqliteRecordReaderTest() override { std::filesystem::remove_all(directory_); }

    [[nodiscard]] std::string path(std::string_view name = "weir.db") const { return directory_ / name; }
    static void put(SqliteStore& store, std::string_view id) {
        model::RequestRecord record;
        record.request_id = id;
        const ports::RecordRow row{.record = &record, .json = R"({"request_id":"x"})"};
        ASSERT_TRUE(store.insert({&row, 1}));
    }

    std::filesystem::path directory_;
};

TEST_F(SqliteRecordReaderTest, FindsWhatIsWrittenWhileItIsOpen) {
    const auto store = *SqliteStore::open(path(), {});
    const auto reader = *SqliteRecordReader::open(path());
    EXPECT_EQ(reader->find("a").value(), std::nullopt) << "unknown is no error";
    put(*store, "a");
    EXPECT_EQ(reader->find("a").value(), R"({"request_id":"x"})");
    EXPECT_EQ(reader->find("' OR 1 --").value(), std::nullopt);
}

TEST_F(SqliteRecordReaderTest, IsNotHeldUpByAWriter) {
    const auto store = *SqliteStore::open(path(), {});
    put(*store, "a");
    const auto reader = *SqliteRecordReader::open(path());
    const auto rival = *open_sqlite(path(), {});
    ASSERT_TRUE(execute(rival.get(), "BEGIN EXCLUSIVE"));
    EXPECT_TRUE(reader->find("a")->has_value());
}

TEST_F(SqliteRecordReaderTest, FollowsAFileThatWasReplacedAndSaysWhenThereIsNone) {
    auto store = *SqliteStore::open(path(), {});
    put(*store, "a");
    const auto reader = *SqliteRecordReader::open(path());
    store = {};
    for (const auto* suffix : {"", "-wal", "-shm"})
        std::filesystem::remove(path() + suffix);
    const auto gone = reader->find("a");
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code(), base::ErrorCode::unavailable);
    store = *SqliteStore::open(path(), {});
    put(*store, "b");
    EXPECT_EQ(reader->find("a").value(), std::nullopt);
    EXPECT_TRUE(reader->find("b")->has_value());
}

TEST_F(SqliteRecordReaderTest, WithoutAFileThereIsNone) { EXPECT_FALSE(SqliteRecordReader::open(path("missing.db"))); }

}  // namespace
}  // namespace weir::store
