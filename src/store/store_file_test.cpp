#include "store/store_file.h"

#include "store/sqlite_database.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace weir::store {
namespace {

using Place = StoreFile::Place;

class StoreFileTest : public testing::Test {
protected:
    StoreFileTest() {
        std::string pattern = (std::filesystem::temp_directory_path() / "weir-store-file-XXXXXX").string();
        directory_ = ::mkdtemp(pattern.data());
        file_.emplace(path());
        database_ = *open_sqlite(path(), {});
        file_->opened();
        const auto copy = (directory_ / "copy.db").string();
        EXPECT_TRUE(open_sqlite(copy, {}));
    }
    ~StoreFileTest() override { std::filesystem::remove_all(directory_); }

    [[nodiscard]] std::string path() const { return directory_ / "weir.db"; }
    void remove(std::string_view suffix) const { std::filesystem::remove(path() + std::string{suffix}); }
    void put_copy() const { std::filesystem::rename(directory_ / "copy.db", path()); }

    std::filesystem::path directory_;
    Database database_;  // open, as it is when its file is taken away: its log exists
    std::optional<StoreFile> file_;
};

TEST_F(StoreFileTest, IsTheSameWhileNobodyTouchesIt) { EXPECT_EQ(file_->look(), Place::same); }

TEST_F(StoreFileTest, IsTheSameWhenItComesBack) {
    std::filesystem::rename(path(), directory_ / "aside");
    const auto gone = file_->look();
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code(), base::ErrorCode::unavailable);
    EXPECT_NE(gone.error().message().find("the file is gone"), std::string::npos) << gone.error().message();
    std::filesystem::rename(directory_ / "aside", path());
    EXPECT_EQ(file_->look(), Place::same);
}

TEST_F(StoreFileTest, IsReplacedWhenAnotherHasItsName) {
    for (const auto* suffix : {"", "-wal", "-shm"})
        remove(suffix);
    put_copy();
    EXPECT_EQ(file_->look(), Place::replaced);
}

// SQLite would apply the old file's log to the new one.
TEST_F(StoreFileTest, IsNoneWhileTheLogOfTheOneBeforeIsBesideIt) {
    put_copy();
    const auto mixed = file_->look();
    ASSERT_FALSE(mixed);
    EXPECT_EQ(mixed.error().code(), base::ErrorCode::unavailable);
    EXPECT_NE(mixed.error().message().find("remove " + path() + "-wal"), std::string::npos) << mixed.error().message();
    remove("-wal");
    EXPECT_EQ(file_->look(), Place::replaced);
}

// The numbers of files that nobody has open are given to others.
TEST_F(StoreFileTest, TheLogOfAClosedFileIsInNobodysWay) {
    put_copy();
    file_->closing();
    EXPECT_EQ(file_->look(), Place::replaced);
}

TEST_F(StoreFileTest, AFileThatTakesThePlaceWhileItIsOpenedIsSeen) {
    StoreFile file{path()};
    for (const auto* suffix : {"", "-wal", "-shm"})
        remove(suffix);
    put_copy();
    database_ = *open_sqlite(path(), {});
    file.opened();
    file.closing();
    EXPECT_EQ(file.look(), Place::replaced);
}

TEST_F(StoreFileTest, AFileThatWasMadeByOpeningItIsTheSame) {
    for (const auto* suffix : {"", "-wal", "-shm"})
        remove(suffix);
    StoreFile file{path()};
    database_ = *open_sqlite(path(), {});
    file.opened();
    EXPECT_EQ(file.look(), Place::same);
}

}  // namespace
}  // namespace weir::store
