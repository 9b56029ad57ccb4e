// References to the environment and to files, and what must never be shown.
#include "config/test_config.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::config {
namespace {

using namespace testing;

std::string with_credential(std::string_view value) {
    return with("    region: eu", "    credential: " + std::string{value} + "\n    region: eu");
}

std::string credential_of(std::string_view value) {
    return config_of(with_credential(value)).pools[0].credential.reveal();
}

TEST(ConfigReference, EnvironmentAndFilesAreRead) {
    EXPECT_EQ(credential_of("${PRESENT}"), "yes");
    EXPECT_EQ(credential_of("\"a-${PRESENT}-${PRESENT}-b\""), "a-yes-yes-b");
    EXPECT_EQ(credential_of("{file: secret.txt}"), "hunter2");
    EXPECT_EQ(credential_of("$PRESENT"), "$PRESENT");
}

TEST(ConfigReference, ValuesAreNotExpandedAgainAndDollarsCanBeEscaped) {
    EXPECT_EQ(credential_of("${NESTED}"), "${PRESENT}");
    EXPECT_EQ(credential_of("$${PRESENT}"), "${PRESENT}");
}

TEST(ConfigReference, RelativeFilesStartFromTheConfiguration) {
    const auto config = parse(with_credential("{file: secret.txt}"), "conf/weir.yaml", test_environment());
    ASSERT_TRUE(config) << config.error().format();
    EXPECT_EQ(config->pools[0].credential.reveal(), "hunter2");
    const auto missing = parse(with_credential("{file: secret.txt}"), "elsewhere/weir.yaml", test_environment());
    ASSERT_FALSE(missing);
    EXPECT_EQ(
        missing.error().format(),
        "elsewhere/weir.yaml:9:24: pools.plain.credential.file: cannot read elsewhere/secret.txt: no such file\n");
}

TEST(ConfigReference, WorkForEveryKindOfValue) {
    EXPECT_EQ(config_of(with("region: eu", "region: ${PRESENT}")).pools[0].region, "yes");
    EXPECT_EQ(config_of(with("region: eu", "region: {file: secret.txt}")).pools[0].region, "hunter2");
}

TEST(ConfigReference, Problems) {
    const std::string at = "f:9:17: pools.plain.credential: ";
    EXPECT_EQ(problems_of(with_credential("${ABSENT}")), at + "the environment variable ABSENT is not set\n");
    EXPECT_EQ(problems_of(with_credential("\"${A1}${B2}\"")),
              at + "the environment variable A1 is not set\n" + at + "the environment variable B2 is not set\n");
    const auto form = at + "a reference to the environment looks like ${NAME}; a literal ${ is written $${\n";
    for (const std::string_view bad : {"\"${\"", "\"${}\"", "\"${1A}\"", "\"${A B}\"", "\"${PRESENT\""})
        EXPECT_EQ(problems_of(with_credential(bad)), form) << bad;
    EXPECT_EQ(problems_of(with_credential("${EMPTY}")), at + "the secret is empty\n");
    EXPECT_EQ(problems_of(with_credential("${MULTI}")), at + "the secret must be one line of at most 64 KiB\n");
    const auto token = at + "a bearer token has no blanks and nothing but printable ASCII characters\n";
    for (const std::string_view bad : {"\"two words\"", "\"na\\u00efve\"", "\"key \""})
        EXPECT_EQ(problems_of(with_credential(bad)), token) << bad;
    for (const std::string_view bad : {"\"a\\r\\nx-evil: 1\"", "\"a\\tb\"", "\"a\\x7f\""})
        EXPECT_TRUE(problems_of(with_credential(bad)).starts_with(at)) << problems_of(with_credential(bad));
    EXPECT_EQ(problems_of(with_credential("{file: a, mode: b}")), at + "expected a text, not a map\n");
}

TEST(ConfigReference, TheirTextIsNeverShown) {
    const std::vector<std::string> texts{
        with("engine: vllm", "engine: {file: secret.txt}"),
        with("context: 8192", "context: {file: secret.txt}"),
        with("version: 1", "version: {file: secret.txt}"),
        with("region: eu", "region: ${MULTI}"),
        with("server:", "store: {url: \"hunter2://user:two@host\"}\nserver:"),
        with("server:", "shared_limits: {url: {file: secret.txt}}\nserver:"),
        with("http://10.0.0.1:8000", "http://user:hunter2@10.0.0.1:8000"),
    };
    for (const auto& text : texts) {
        const auto problems = problems_of(text);
        EXPECT_NE(problems, "") << text;
        EXPECT_FALSE(problems.contains("hunter2") || problems.contains("two")) << problems;
    }
    EXPECT_EQ(problems_of(texts[0]),
              "f:5:13: pools.plain.engine: expected vllm, sglang, llamacpp or openai, not the contents of the file\n");
    EXPECT_TRUE(problems_of(texts[3]).contains("not the value of ${MULTI}"));
}

TEST(ConfigReference, StoreAndSharedLimitsUrls) {
    const auto store = [](std::string_view url) {
        return with("server:", "store: {url: \"" + std::string{url} + "\"}\nserver:");
    };
    EXPECT_EQ(config_of(store("postgresql://weir:${PRESENT}@db/weir")).store.url.reveal(),
              "postgresql://weir:yes@db/weir");
    EXPECT_EQ(config_of(store("postgres://db/weir")).store.kind(), StoreKind::postgresql);
    EXPECT_EQ(config_of(store("sqlite:/var/lib/weir.db")).store.sqlite_path(), "/var/lib/weir.db");
    for (const std::string_view bad : {"mysql://h", "sqlite:", "weir.db", "postgresql://"})
        EXPECT_TRUE(problems_of(store(bad)).contains("expected sqlite:PATH or postgresql://")) << bad;
    EXPECT_FALSE(config_of(with("server:", "shared_limits: {url: \"redis://h:6379\"}\nserver:")).shared_limits.local());
    EXPECT_TRUE(problems_of(with("server:", "shared_limits: {url: memcached}\nserver:"))
                    .contains("expected local or redis://"));
}

}  // namespace
}  // namespace weir::config
