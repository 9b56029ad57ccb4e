#include "cli/check_command.h"

#include "cli/test_output.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

namespace weir::cli {
namespace {

using test::Outcome;

Outcome check(const CheckOptions& options) {
    return test::run([&](std::FILE* out, std::FILE* err) { return run_check(options, out, err); });
}

std::string example(const std::string& name) { return std::string{WEIR_TEST_DATA} + "/../../examples/" + name; }

std::string write_file(const std::string& name, std::string_view text) {
    auto path = ::testing::TempDir() + name;
    std::ofstream{path} << text;
    return path;
}

TEST(CheckCommand, AValidFileIsCountedAndExitsZero) {
    const auto [code, out, err] = check({.config_path = example("two-pools.yaml")});
    EXPECT_EQ(code, 0);
    EXPECT_EQ(out, example("two-pools.yaml") + ": ok (2 pools, 1 alias, 1 tenant, 2 keys)\n");
    EXPECT_EQ(err, "");
}

TEST(CheckCommand, WarningsAreShownAndDoNotFail) {
    const auto path = write_file("weir_check_warning.yaml", "version: 1\nserver: {listen: \"127.0.0.1:8080\"}\n");
    const auto [code, out, err] = check({.config_path = path});
    EXPECT_EQ(code, 0);
    EXPECT_EQ(out, path + ":1:1: aliases: warning: there are none, so nothing can be called\n" + path +
                       ":1:1: tenants: warning: the file has no key; only keys from the store can call\n" + path +
                       ": ok (0 pools, 0 aliases, 0 tenants, 0 keys)\n");
    std::remove(path.c_str());
}

TEST(CheckCommand, EveryProblemIsShownAndExitsOne) {
    const auto path = write_file("weir_check_bad.yaml", "version: 2\nserver: {listen: \"x\", wrokers: 1}\n");
    const auto [code, out, err] = check({.config_path = path});
    EXPECT_EQ(code, 1);
    EXPECT_EQ(out, path + ":1:10: version: must be 1, not '2'\n" + path +
                       ":2:18: server.listen: expected HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080, not 'x'\n" +
                       path + ":2:23: server.wrokers: unknown key; did you mean workers?\n");
    std::remove(path.c_str());
}

TEST(CheckCommand, AFileThatCannotBeReadExitsThree) {
    const auto [code, out, err] = check({.config_path = "does-not-exist.yaml"});
    EXPECT_EQ(code, 3);
    EXPECT_EQ(out, "");
    EXPECT_EQ(err, "weir check: cannot read does-not-exist.yaml: No such file or directory\n");
}

TEST(CheckCommand, PrintsTheSchema) {
    const auto [code, out, err] = check({.config_path = {}, .schema = true});
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(out.starts_with(R"({"$schema":"https://json-schema.org/draft/2020-12/schema")"));
    EXPECT_TRUE(out.ends_with("}\n"));
}

}  // namespace
}  // namespace weir::cli
