#include "cli/key_command.h"

#include "cli/test_output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace weir::cli {
namespace {

using namespace std::chrono_literals;
using test::Outcome;

constexpr base::WallTime noon{std::chrono::sys_days{std::chrono::year{2027} / 6 / 30} + 12h};

class KeyCommandTest : public testing::Test {
protected:
    KeyCommandTest() {
        std::string path = (std::filesystem::temp_directory_path() / "weir-key-XXXXXX").string();
        directory_ = ::mkdtemp(path.data());
    }
    ~KeyCommandTest() override { std::filesystem::remove_all(directory_); }
    [[nodiscard]] KeyOptions options(KeyAction action, const std::string& name = "") const {
        KeyOptions made;
        made.action = action;
        made.store_url = "sqlite:" + (directory_ / "weir.db").string();
        made.name = name;
        if (action == KeyAction::create) made.tenant = "acme";
        return made;
    }
    [[nodiscard]] static Outcome run(const KeyOptions& options, base::WallTime now = noon) {
        return test::run(
            [&](std::FILE* out, std::FILE* err) { return run_key(options, {.out = out, .err = err, .now = now}); });
    }
    std::filesystem::path directory_;
};

TEST_F(KeyCommandTest, PrintsASecretAloneAndOnce) {
    const auto made = run(options(KeyAction::create, "one"));
    EXPECT_EQ(made.code, 0);
    EXPECT_EQ(made.out.size(), 55U) << made.out;
    EXPECT_TRUE(made.out.starts_with("weir_") && made.out.ends_with("\n"));
    EXPECT_NE(made.err.find("one of tenant acme"), std::string::npos) << made.err;
    EXPECT_EQ(made.err.find(made.out.substr(0, 20)), std::string::npos);
    EXPECT_NE(run(options(KeyAction::create, "two")).out, made.out);
}

TEST_F(KeyCommandTest, AsJsonTheSecretIsAMember) {
    auto asked = options(KeyAction::create, "one");
    asked.format = "json";
    const auto made = run(asked);
    EXPECT_NE(made.out.find(R"("secret":"weir_)"), std::string::npos) << made.out;
    auto list = options(KeyAction::list);
    list.format = "json";
    const auto listed = run(list);
    EXPECT_TRUE(listed.out.starts_with(R"({"items":[{"id":"k_)")) << listed.out;
    EXPECT_EQ(listed.out.find("weir_"), std::string::npos);
}

TEST_F(KeyCommandTest, AnEmptyListIsNoError) {
    ASSERT_EQ(run(options(KeyAction::create, "one")).code, 0);
    auto list = options(KeyAction::list);
    list.tenant = "globex";
    const auto table = run(list);
    EXPECT_EQ(table.code, 0);
    EXPECT_EQ(table.out, "");
    EXPECT_NE(table.err.find("no such keys"), std::string::npos);
    list.format = "json";
    EXPECT_EQ(run(list).out, "{\"items\":[]}\n");
}

TEST_F(KeyCommandTest, TheStateIsThatOfTheMoment) {
    auto asked = options(KeyAction::create, "one");
    asked.expires = "1h";
    ASSERT_EQ(run(asked).code, 0);
    auto list = options(KeyAction::list);
    list.state = "active";
    EXPECT_NE(run(list, noon + 59min).out, "");
    EXPECT_EQ(run(list, noon + 1h).out, "");
    list.state = "expired";
    EXPECT_NE(run(list, noon + 1h).out, "");
}

TEST_F(KeyCommandTest, ASecretThatCannotBeWrittenIsWorthNothing) {
    std::FILE* full = std::fopen("/dev/full", "w");
    ASSERT_NE(full, nullptr);
    const auto refused = test::run([&](std::FILE*, std::FILE* err) {
        return run_key(options(KeyAction::create, "one"), {.out = full, .err = err, .now = noon});
    });
    std::fclose(full);
    EXPECT_EQ(refused.code, 3);
    EXPECT_NE(refused.err.find("revoked"), std::string::npos) << refused.err;
    auto list = options(KeyAction::list);
    list.state = "revoked";
    EXPECT_NE(run(list).out, "");
}

TEST_F(KeyCommandTest, AKeyOfSeveralTenantsNeedsOne) {
    ASSERT_EQ(run(options(KeyAction::create, "same")).code, 0);
    auto other = options(KeyAction::create, "same");
    other.tenant = "globex";
    ASSERT_EQ(run(other).code, 0);
    const auto refused = run(options(KeyAction::revoke, "same"));
    EXPECT_EQ(refused.code, 1);
    EXPECT_NE(refused.err.find("--tenant"), std::string::npos) << refused.err;
    auto chosen = options(KeyAction::revoke, "same");
    chosen.tenant = "globex";
    EXPECT_EQ(run(chosen).code, 0);
    EXPECT_EQ(run(options(KeyAction::revoke, "same")).code, 0) << "one is left to be meant";
    EXPECT_NE(run(options(KeyAction::revoke, "same")).err.find("already"), std::string::npos);
}

}  // namespace
}  // namespace weir::cli
