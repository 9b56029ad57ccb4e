#include "ledger/access_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace weir::ledger {
namespace {

class AccessLogTest : public testing::Test {
protected:
    AccessLogTest() {
        std::string path = (std::filesystem::temp_directory_path() / "weir-log-XXXXXX").string();
        directory_ = ::mkdtemp(path.data());
    }
    ~AccessLogTest() override { std::filesystem::remove_all(directory_); }
    [[nodiscard]] std::string path(std::string_view name = "access.log") const { return directory_ / name; }
    static std::string read(const std::string& file) {
        std::ostringstream text;
        text << std::ifstream{file}.rdbuf();
        return text.str();
    }
    static AccessLog open(const std::string& where) {
        auto log = AccessLog::open(where);
        EXPECT_TRUE(log) << (log ? "" : log.error().message());
        return *std::move(log);
    }
    std::filesystem::path directory_;
};

TEST_F(AccessLogTest, BehindAHalfLineOfADeadProcessBeginsANewOne) {
    std::ofstream{path()} << "whole\nhal";
    EXPECT_EQ(open(path()).append("new\n"), 0U);
    EXPECT_EQ(read(path()), "whole\nhal\nnew\n");
}

TEST_F(AccessLogTest, AppendsToWhatIsThere) {
    std::ofstream{path()} << "old\n";
    auto log = open(path());
    EXPECT_EQ(log.append("one\ntwo\n"), 0U);
    EXPECT_EQ(log.append(""), 0U);
    EXPECT_EQ(read(path()), "old\none\ntwo\n");
}

TEST_F(AccessLogTest, ANewFileIsNotForEverybody) {
    const auto mask = ::umask(0);
    const auto log = open(path());
    ::umask(mask);
    struct stat about{};
    ASSERT_EQ(::stat(path().c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0640U);
}

TEST_F(AccessLogTest, OffWritesNothing) {
    auto log = open("off");
    EXPECT_FALSE(log.enabled());
    EXPECT_EQ(log.append("line\n"), 0U);
}

TEST_F(AccessLogTest, DashIsStandardOutput) {
    const int saved = ::dup(STDOUT_FILENO);
    const int file = ::open(path().c_str(), O_WRONLY | O_CREAT, 0600);
    std::fflush(stdout);
    ::dup2(file, STDOUT_FILENO);
    {
        auto log = open("-");
        EXPECT_EQ(log.append("line\n"), 0U);
        log.reopen();
        EXPECT_EQ(log.append("another\n"), 0U);
    }
    const bool still_open = ::fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    ::dup2(saved, STDOUT_FILENO);
    ::close(saved);
    ::close(file);
    EXPECT_TRUE(still_open) << "the log closed somebody else's descriptor";
    EXPECT_EQ(read(path()), "line\nanother\n");
}

TEST_F(AccessLogTest, AFullDiskLosesCountedLines) {
    auto log = open("/dev/full");
    EXPECT_EQ(log.append("one\ntwo\nthree\n"), 3U);
}

TEST_F(AccessLogTest, KeepsTheOldFileWhenTheNewOneCannotBeOpened) {
    std::filesystem::create_directory(directory_ / "logs");
    auto log = open(path("logs/access.log"));
    std::filesystem::rename(directory_ / "logs", directory_ / "moved");
    log.reopen();
    EXPECT_EQ(log.append("line\n"), 0U);
    EXPECT_EQ(read(path("moved/access.log")), "line\n");
}

TEST_F(AccessLogTest, OpeningAFifoThatNobodyReadsIsAnErrorAndNoWait) {
    ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    EXPECT_FALSE(AccessLog::open(path("fifo")));
}

// A pipe whose reader does not read, as a log collector that hangs.
class PipeTest : public AccessLogTest {
protected:
    PipeTest() {
        EXPECT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
        reader_ = ::open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        std::signal(SIGPIPE, SIG_IGN);
    }
    ~PipeTest() override { close_reader(); }
    void close_reader() {
        if (reader_ >= 0) ::close(std::exchange(reader_, -1));
    }
    std::string drain() const {
        std::string all;
        char part[4096];
        for (auto count = ::read(reader_, part, sizeof part); count > 0; count = ::read(reader_, part, sizeof part))
            all.append(part, static_cast<std::size_t>(count));
        return all;
    }
    // 300 KiB: more than a pipe holds.
    static std::string many_lines(std::size_t count) {
        std::string lines;
        for (std::size_t i = 0; i < count; ++i)
            lines += std::string(299, static_cast<char>('a' + i % 26)) + "\n";
        return lines;
    }
    int reader_;
};

TEST_F(PipeTest, AReaderThatTakesNothingCostsLinesAndLittleTime) {
    auto log = open(path("fifo"));
    const auto began = std::chrono::steady_clock::now();
    const auto lost = log.append(many_lines(1000));
    EXPECT_GT(lost, 500U);
    EXPECT_LT(lost, 1000U);
    EXPECT_EQ(log.append(many_lines(1000)), 1000U) << "and is not waited for again";
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{5});
}

TEST_F(PipeTest, WhatFollowsACutBeginsOnANewLine) {
    auto log = open(path("fifo"));
    const auto lost = log.append(many_lines(1000));
    std::string seen = drain();
    const auto whole_lines = static_cast<std::size_t>(std::ranges::count(seen, '\n'));
    EXPECT_EQ(whole_lines + lost, 1000U) << "a line without its end is lost";
    EXPECT_EQ(log.append("next\n"), 0U);
    seen = seen.substr(seen.rfind('\n') + 1) + drain();
    EXPECT_TRUE(seen == "next\n" || seen.ends_with("\nnext\n")) << seen;
}

TEST_F(PipeTest, AReaderThatHasGoneCostsLinesAndNotTheProcess) {
    auto log = open(path("fifo"));
    close_reader();
    EXPECT_EQ(log.append("one\ntwo\n"), 2U);
}

}  // namespace
}  // namespace weir::ledger
