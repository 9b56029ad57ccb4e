// Which mistakes are found in a file, where, and what is said about them.
#include "config/test_config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::config {
namespace {

using namespace testing;

TEST(ConfigProblems, FiveMistakesAreFiveProblemsWithTheirPositions) {
    auto text = with("version: 1", "version: 2");
    text = with(text, "{listen: \"127.0.0.1:8080\"}", "{listn: \"127.0.0.1:8080\", listen: \"127.0.0.1:8080\"}");
    text = with(text, "engine: vllm", "engine: vlm");
    text = with(text, "context: 4096", "context: 16384");
    text = with(text, "team: search", "team: serach");
    EXPECT_EQ(problems_of(text),
              "f:1:10: version: must be 1, not '2'\n"
              "f:2:10: server.listn: unknown key; did you mean listen?\n"
              "f:5:13: pools.plain.engine: expected vllm, sglang, llamacpp or openai, not 'vlm'; did you mean vllm?\n"
              "f:26:13: aliases.chat.pools[0]: plain cannot stand behind this alias: its context is 8192 tokens, the "
              "alias promises 16384\n"
              "f:33:105: tenants.acme.keys[0].team: the tenant has no team 'serach'; did you mean search?\n");
}

struct Case {
    std::string_view from;
    std::string_view to;
    std::string_view expected;  // the whole answer
};

void expect_all(const std::vector<Case>& cases) {
    for (const auto& [from, to, expected] : cases)
        EXPECT_EQ(problems_of(with(from, to)), expected) << to;
}

TEST(ConfigProblems, RequiredKeys) {
    expect_all({
        {"version: 1\n", "", "f:1:1: version: this key is required\n"},
        {"server: {listen: \"127.0.0.1:8080\"}\n", "", "f:1:1: server: this key is required\n"},
        {"{listen: \"127.0.0.1:8080\"}", "", "f:2:1: server.listen: this key is required\n"},
        {"    engine: vllm\n", "", "f:4:3: pools.plain.engine: this key is required\n"},
        {"    replicas: [\"http://10.0.0.1:8000\"]\n", "", "f:4:3: pools.plain.replicas: this key is required\n"},
        {"{model: org/model}", "{}", "f:8:5: pools.plain.target.model: this key is required\n"},
        {"    endpoints: [chat.completions]\n", "", "f:21:3: aliases.chat.endpoints: this key is required\n"},
        {"{pool: fast, order: 2}", "{order: 2}", "f:26:20: aliases.chat.pools[1].pool: this key is required\n"},
        {"name: key-one, ", "", "f:33:9: tenants.acme.keys[0].name: this key is required\n"},
    });
}

TEST(ConfigProblems, AnEmptyFileMissesWhatIsRequired) {
    EXPECT_EQ(problems_of(""), "f:1:1: version: this key is required\nf:1:1: server: this key is required\n");
    EXPECT_EQ(problems_of("- a\n"), "f:1:1: expected a map, not a list\n");
    EXPECT_EQ(problems_of("hello"), "f:1:1: expected a map, not a single value\n");
}

TEST(ConfigProblems, WrongKindsOfValues) {
    expect_all({
        {"listen: \"127.0.0.1:8080\"", "listen: [a]", "f:2:18: server.listen: expected HOST:PORT, not a list\n"},
        {"listen: \"127.0.0.1:8080\"", "listen:", "f:2:10: server.listen: no value is given; expected HOST:PORT\n"},
        {"provides: [no-retention]", "provides: no-retention",
         "f:10:15: pools.plain.provides: expected a list, not a single value\n"},
        {"target: {model: org/model}", "target: org/model",
         "f:8:13: pools.plain.target: expected a map, not a single value\n"},
        {"context: 8192", "context: 8k",
         "f:11:29: pools.plain.capabilities.context: expected a whole number, not '8k'\n"},
        {"context: 8192", "context: 0",
         "f:11:29: pools.plain.capabilities.context: must be from 1 to 100000000, not '0'\n"},
        {"proposal_length: 3", "proposal_length: 65",
         "f:19:70: pools.fast.speculation.proposal_length: must be from 1 to 64, not '65'\n"},
        {"region: eu", "region: 'e u'",
         "f:9:13: pools.plain.region: expected a name of 1 to 128 letters, digits and _ . / : @ + - that starts with a "
         "letter, digit or "
         "_, not 'e u'\n"},
        {"e3b0c4", "e3b0c",
         "f:33:33: tenants.acme.keys[0].sha256: expected a SHA-256 as 64 hexadecimal digits, not "
         "'e3b0c4298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b…'\n"},
    });
}

TEST(ConfigProblems, ZeroTimeoutsAreRefused) {
    for (const std::string_view key : {"connect", "first_token", "idle"}) {
        const auto added = "    timeouts: {" + std::string{key} + ": 0s}\n    region: eu";
        EXPECT_TRUE(problems_of(with("    region: eu", added)).contains("must be from 1ms to")) << key;
    }
    for (const std::string_view key : {"header_timeout", "body_timeout", "idle_timeout", "write_stall_timeout"}) {
        const auto added = "\", limits: {" + std::string{key} + ": 0s}}";
        EXPECT_TRUE(problems_of(with("\"}", added)).contains("must be from 1ms to 24h, not '0s'")) << key;
    }
    EXPECT_TRUE(problems_of(with("    context: 4096", "    client_timeout: 0s")).contains("must be from 1ms"));
    EXPECT_TRUE(problems_of(with("    region: eu", "    health: {interval: 0s}\n    region: eu"))
                    .contains("must be from 100ms"));
    EXPECT_EQ(problems_of(with("\"}", "\", drain: {delay: 0s, timeout: 0s}}")),
              "");  // 0 = at once, which has a meaning here
}

TEST(ConfigProblems, ALimitOfZeroIsRefused) {
    EXPECT_EQ(
        problems_of(with("    aliases: [chat]", "    limits: {requests: 0/min}\n    aliases: [chat]")),
        "f:30:24: tenants.acme.limits.requests: must be more than 0 (for no limit leave the key out), not '0/min'\n");
    EXPECT_TRUE(problems_of(with("    aliases: [chat]", "    limits: {concurrency: 0}\n    aliases: [chat]"))
                    .contains("must be from 1 to 1000000, not '0'"));
}

TEST(ConfigProblems, ReplicaAddresses) {
    const auto at = [](std::string_view message) {
        return "f:6:16: pools.plain.replicas[0]: " + std::string{message} + "\n";
    };
    const auto https = at("https:// to engines is not supported yet; use http:// inside a trusted network");
    const auto user = at("user and password do not belong into an address; use credential");
    const auto path = at("an address ends after the port; the paths are those of the engine's API");
    const auto form = at("expected http://HOST:PORT, such as http://10.0.0.1:8000");
    const auto scheme = at("expected an address, such as http://10.0.0.1:8000");
    const auto port = at("expected a port from 1 to 65535");
    expect_all({
        {"http://10.0.0.1:8000", "https://h:1", https},
        {"http://10.0.0.1:8000", "http://u:p@h:1", user},
        {"http://10.0.0.1:8000", "http://h:1/v1", path},
        {"http://10.0.0.1:8000", "http://h:1?x=y", path},
        {"http://10.0.0.1:8000", "http://h", form},
        {"http://10.0.0.1:8000", "http://:1", form},
        {"http://10.0.0.1:8000", "http://h:99999", form},
        {"http://10.0.0.1:8000", "h:1", scheme},
        {"http://10.0.0.1:8000", "ftp://h:1", scheme},
        {"http://10.0.0.1:8000", "http://h:0", port},
        {"[\"http://10.0.0.1:8000\"]", "[]",
         "f:6:15: pools.plain.replicas: expected a list of at least one address, or {dns: ADDRESS}\n"},
        {"[\"http://10.0.0.1:8000\"]", "{dns: x}",
         "f:6:21: pools.plain.replicas.dns: expected an address, such as http://10.0.0.1:8000\n"},
        {"[\"http://10.0.0.1:8000\"]", "[\"http://h:1\", \"http://H:1/\"]",
         "f:6:30: pools.plain.replicas[1]: this replica is listed twice: http://h:1\n"},
    });
    EXPECT_EQ(config_of(with("http://10.0.0.1:8000", "http://Host.Example:80/")).pools[0].replicas.urls[0].text,
              "http://host.example:80");
    EXPECT_EQ(config_of(with("http://10.0.0.1:8000", "http://[::1]:80")).pools[0].replicas.urls[0].address.host, "::1");
}

TEST(ConfigProblems, NamesInMaps) {
    EXPECT_TRUE(problems_of(with("  acme:", "  \"a b\":")).starts_with("f:29:3: tenants.a b: expected a name"));
    EXPECT_TRUE(problems_of(with("  acme:", "  \"" + std::string(129, 'a') + "\":")).contains("expected a name"));
    EXPECT_EQ(problems_of(with("  acme:", "  org/acme-2.1:")), "");
}

TEST(ConfigProblems, DuplicateKeysDoNotHideOtherMistakes) {
    const auto text = with(with("    region: eu", "    region: eu\n    region: us"), "context: 4096", "contxt: 4096");
    EXPECT_EQ(problems_of(text),
              "f:10:5: pools.plain.region: duplicate key; it is already given in line 9\n"
              "f:26:5: aliases.chat.contxt: unknown key; did you mean context?\n");
}

TEST(ConfigProblems, UnknownKeysSayWhatIsKnownWhenNothingIsNear) {
    EXPECT_TRUE(problems_of(with("    region: eu", "    health: {foobar: 1}\n    region: eu"))
                    .contains("unknown key; expected interval\n"));
}

TEST(ConfigProblems, TextThatIsNotYamlIsOneProblem) {
    EXPECT_TRUE(problems_of("version: [1\n").starts_with("f:2:1: not valid YAML: "));
}

TEST(ConfigProblems, HowManyThereAreIsBounded) {
    std::string text = valid_text();
    for (int i = 0; i < 5000; ++i)
        text += "bad" + std::to_string(i) + ": 1\n";
    EXPECT_TRUE(problems_of(text).ends_with("and 4000 more problems\n"));
}

}  // namespace
}  // namespace weir::config
