#include "ledger/spool_directory.h"

#include "ledger/test_spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>

namespace weir::ledger {
namespace {

class SpoolDirectoryTest : public test::SpoolFixture {};

TEST_F(SpoolDirectoryTest, IsForOneProcessAtATime) {
    begin();
    const auto second = SpoolDirectory::open(options(), 1);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), base::ErrorCode::unavailable);
    for (const auto* part : {"another weir uses it", "store.spool.path"})
        EXPECT_NE(second.error().message().find(part), std::string::npos) << second.error().message();
    EXPECT_NE(second.error().message().find(options().path), std::string::npos) << second.error().message();
    die();
    EXPECT_TRUE(SpoolDirectory::open(options(), 1)) << "and the lock goes with its process";
}

TEST_F(SpoolDirectoryTest, ItsFilesAreForTheirOwnerOnly) {
    const auto mask = ::umask(0);
    begin();
    ::umask(mask);
    struct stat about{};
    ASSERT_EQ(::stat(options().path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0700U);
    for (const auto& file : segments()) {
        ASSERT_EQ(::stat(file.c_str(), &about), 0);
        EXPECT_EQ(about.st_mode & 0777U, 0600U) << file;
    }
}

TEST_F(SpoolDirectoryTest, ASegmentHasItsBlocksOnTheDisk) {
    begin();
    struct stat about{};
    ASSERT_EQ(::stat(segments().front().c_str(), &about), 0);
    EXPECT_EQ(static_cast<std::size_t>(about.st_size), min_segment_bytes);
    EXPECT_GE(static_cast<std::size_t>(about.st_blocks) * 512, min_segment_bytes);
}

TEST_F(SpoolDirectoryTest, StopsAtItsCapButForCarrySegments) {
    auto small = options();
    small.cap_bytes = 8 * min_segment_bytes;
    begin(small, 1, 0);
    for (int i = 0; i < 8; ++i)
        EXPECT_TRUE(grant());
    EXPECT_EQ(directory_->bytes(), small.cap_bytes);
    const auto refused = directory_->allocate(0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), base::ErrorCode::too_large);
    EXPECT_NE(refused.error().message().find("store.spool.cap, 512KiB"), std::string::npos)
        << refused.error().message();
    EXPECT_TRUE(directory_->allocate(carry_origin));
    EXPECT_EQ(directory_->bytes(), small.cap_bytes + min_segment_bytes);
}

TEST_F(SpoolDirectoryTest, SegmentsAreSmallerWhereTheCapIsLittleForTheWorkers) {
    auto given = options();
    given.cap_bytes = 16 << 20;
    given.segment_bytes = 4 << 20;
    begin(given, 4, 0);
    EXPECT_EQ(directory_->segment_bytes(), std::size_t{512} << 10U);
    die();
    const auto refused = SpoolDirectory::open(given, 64);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("16MiB is too little for 64 workers, which need 32MiB"), std::string::npos)
        << refused.error().message();
}

TEST_F(SpoolDirectoryTest, AFullDiskIsAnErrorThatLeavesNothingBehind) {
    auto full = options();
    int room = 2;
    full.allocate = [&room](int descriptor, std::size_t bytes) {
        return room-- > 0 ? allocate_on_disk(descriptor, bytes) : ENOSPC;
    };
    begin(full, 1, 0);
    EXPECT_TRUE(grant());
    EXPECT_TRUE(grant());
    const auto refused = directory_->allocate(0);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("No space left"), std::string::npos) << refused.error().message();
    EXPECT_NE(refused.error().message().find(options().path), std::string::npos) << refused.error().message();
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{options().path}, {}), 3) << "two segments and the lock";
    EXPECT_EQ(directory_->bytes(), 2 * min_segment_bytes);
    room = 1;
    EXPECT_TRUE(grant()) << "with room again it goes on";
}

TEST_F(SpoolDirectoryTest, IsPrivateWhenItIsMadeHereAndKeepsItsModeWhenItWasThere) {
    using std::filesystem::perms;
    const auto mode_of = [this] { return std::filesystem::status(options().path).permissions(); };
    begin(options(), 1, 0);
    EXPECT_EQ(mode_of(), perms::owner_all);
    die();
    std::filesystem::permissions(options().path, perms::owner_all | perms::group_read | perms::group_exec);
    begin(options(), 1, 0);
    EXPECT_EQ(mode_of(), perms::owner_all | perms::group_read | perms::group_exec);
}

TEST_F(SpoolDirectoryTest, ADirectoryThatCannotBeMadeIsAnErrorWithItsPath) {
    std::ofstream{root_ / "file"} << "x";
    auto given = options();
    given.path = root_ / "file" / "spool";
    const auto refused = SpoolDirectory::open(given, 1);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find(given.path), std::string::npos) << refused.error().message();
}

struct ForeignCase {
    std::string name;
    std::string file;
    std::function<void(const std::string&)> make;
};

TEST_F(SpoolDirectoryTest, WhatIsNoSegmentIsLeftAlone) {
    const std::string segment = "0123456789abcdef-0000-00000001.seg";
    const auto text = [](const std::string& path) { std::ofstream{path} << "mine"; };
    const std::vector<ForeignCase> cases{
        {"another name", "notes.txt", text},
        {"nearly a name", "0123456789abcdeX-0000-00000001.seg", text},
        {"its name, another content", segment, text},
        {"its name, empty", segment, [](const std::string& path) { std::ofstream{path}; }},
        {"its name, zeros of its size", segment,
         [](const std::string& path) { std::ofstream{path} << std::string(min_segment_bytes, '\0'); }},
        {"its name, a directory", segment, [](const std::string& path) { std::filesystem::create_directory(path); }},
        {"its name, a link", segment,
         [](const std::string& path) { std::filesystem::create_symlink("/etc/passwd", path); }},
        {"its name, a fifo", segment, [](const std::string& path) { ::mkfifo(path.c_str(), 0600); }},
    };
    for (const auto& wanted : cases) {
        std::filesystem::create_directories(options().path);
        const std::string path = options().path + "/" + wanted.file;
        wanted.make(path);
        reports_.clear();
        begin(options(), 1, 0);
        EXPECT_TRUE(recovered_.empty()) << wanted.name;
        EXPECT_TRUE(std::filesystem::exists(std::filesystem::symlink_status(path))) << wanted.name;
        EXPECT_TRUE(reported("left alone: " + wanted.file)) << wanted.name;
        EXPECT_EQ(directory_->bytes(), 0U) << wanted.name;
        die();
        std::filesystem::remove_all(options().path);
    }
}

TEST_F(SpoolDirectoryTest, WhatAnEarlierProcessDidNotFinishIsRemoved) {
    std::filesystem::create_directories(options().path);
    std::ofstream{options().path + "/0123456789abcdef-0000-00000001.seg.new"} << "half";
    begin(options(), 1, 0);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{options().path}, {}), 1) << "the lock";
    EXPECT_TRUE(reports_.empty());
}

}  // namespace
}  // namespace weir::ledger
