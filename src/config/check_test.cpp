// Checks across keys: references, contracts, policies, secrets.
#include "base/sha256.h"
#include "config/test_config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::config {
namespace {

using namespace testing;

struct Case {
    std::string_view from;
    std::string_view to;
    std::string_view expected;  // the whole answer
};

void expect_problems(const std::vector<Case>& cases) {
    for (const auto& [from, to, expected] : cases)
        EXPECT_EQ(problems_of(with(from, to)), expected) << to;
}

void expect_warnings(const std::vector<Case>& cases) {
    for (const auto& [from, to, expected] : cases)
        EXPECT_EQ(warnings_of(with(from, to)), expected) << to;
}

constexpr std::string_view empty_hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(ConfigCheck, Listeners) {
    expect_problems({
        {"8080\"}", "8080\", admin_listen: \"127.0.0.1:8080\"}",
         "f:2:50: server.admin_listen: 127.0.0.1:8080 is taken by listen\n"},
        {"127.0.0.1:8080", "0.0.0.0:9464", "f:2:1: server.metrics_listen: 127.0.0.1:9464 is taken by listen\n"},
        {"8080\"}", "8080\", admin_listen: \"0.0.0.0:1\"}",
         "f:2:50: server.admin_listen: without admin_tokens the admin API listens on a loopback address only\n"},
        {"8080\"}", "8080\", limits: {buffered_bytes: 1MiB}}",
         "f:2:61: server.limits.buffered_bytes: must be at least limits.body, or no full body could ever be held\n"},
    });
    const auto zero =
        with("127.0.0.1:8080\"}", "127.0.0.1:0\", admin_listen: \"127.0.0.1:0\", metrics_listen: \"127.0.0.1:0\"}");
    EXPECT_EQ(problems_of(zero), "");
}

TEST(ConfigCheck, AdminTokens) {
    const auto token = [](std::string_view name, std::string_view secret) {
        return "{name: " + std::string{name} + ", role: admin, sha256: " + base::to_hex(base::sha256(secret)) + "}";
    };
    const auto text = [](const std::string& tokens) {
        return with("8080\"}", "8080\", admin_listen: \"0.0.0.0:1\", admin_tokens: [" + tokens + "]}");
    };
    EXPECT_EQ(problems_of(text(token("a", "x") + "," + token("b", "y"))), "");
    EXPECT_TRUE(problems_of(text(token("a", "x") + "," + token("a", "y")))
                    .contains("server.admin_tokens[1].name: another token has this name"));
    EXPECT_TRUE(problems_of(text(token("a", "x") + "," + token("b", "x")))
                    .contains("server.admin_tokens[1].sha256: another token is the same"));
}

TEST(ConfigCheck, Speculation) {
    constexpr std::string_view whole = "{method: eagle3, draft: org/draft, proposal_length: 3, lossless: verified}";
    expect_problems({
        {whole, "{method: none, proposal_length: 3}",
         "f:19:50: pools.fast.speculation.proposal_length: method none proposes no tokens\n"},
        {whole, "{method: none, draft: d}", "f:19:40: pools.fast.speculation.draft: method none has no draft model\n"},
        {whole, "{method: none, lossless: declared}",
         "f:19:43: pools.fast.speculation.lossless: method none is the target itself; leave the key out\n"},
        {whole, "{method: ngram, draft: d}",
         "f:19:41: pools.fast.speculation.draft: method ngram has no draft model\n"},
        {whole, "{method: mtp, draft_revision: r}",
         "f:19:48: pools.fast.speculation.draft_revision: there is no draft that it could be a revision of\n"},
        {whole, "{proposal_length: 2}",
         "f:19:5: pools.fast.speculation.method: this key is required\n"
         "f:19:36: pools.fast.speculation.proposal_length: method none proposes no tokens\n"},
    });
    const auto other_engine = [&](std::string_view engine, std::string_view method) {
        const auto text = with("  fast:\n    engine: vllm", "  fast:\n    engine: " + std::string{engine});
        return problems_of(with(text, whole, "{method: " + std::string{method} + "}"));
    };
    EXPECT_EQ(other_engine("llamacpp", "medusa"),
              "f:19:27: pools.fast.speculation.method: the engine llamacpp does not have the method medusa\n");
    EXPECT_EQ(other_engine("sglang", "suffix"),
              "f:19:27: pools.fast.speculation.method: the engine sglang does not have the method suffix\n");
    EXPECT_EQ(other_engine("llamacpp", "eagle3"), "");
    EXPECT_EQ(other_engine("openai", "medusa"), "");
}

TEST(ConfigCheck, AliasReferences) {
    expect_problems({
        {"[plain, {", "[plan, plain, {",
         "f:26:13: aliases.chat.pools[0]: there is no pool 'plan'; did you mean plain?\n"},
        {"{pool: fast, order: 2}", "plain, fast", "f:26:20: aliases.chat.pools[1]: the pool plain is listed twice\n"},
        {"baseline: plain", "baseline: fast",
         "f:27:15: aliases.chat.baseline: the pool fast speculates; a baseline does not\n"},
        {"baseline: plain", "baseline: plane",
         "f:27:15: aliases.chat.baseline: 'plane' is not among the alias's pools\n"},
        {"    baseline: plain\n", "",
         "f:21:3: aliases.chat.baseline: this key is required, since the pool fast speculates; name a pool that does "
         "not\n"},
        {"pools: [plain, {pool: fast, order: 2}]\n    baseline: plain", "pools: []",
         "f:26:12: aliases.chat.pools: an alias needs at least one pool\n"},
        {"endpoints: [chat.completions]", "endpoints: []",
         "f:24:16: aliases.chat.endpoints: an alias needs at least one endpoint\n"},
    });
    EXPECT_EQ(problems_of(with("{pool: fast, order: 2}]\n    baseline: plain", "]")),
              "");  // nothing speculates, no baseline needed
}

TEST(ConfigCheck, AliasNamesAreUniqueOverAllAliases) {
    const std::string second =
        "  two:\n    names: [NAMES]\n    family: fam\n    endpoints: [completions]\n    pools: [plain]\ntenants:\n";
    const auto text = with("tenants:\n", second);
    EXPECT_EQ(problems_of(with(text, "NAMES", "fresh")), "");
    EXPECT_EQ(problems_of(with(text, "NAMES", "other-name")),
              "f:29:13: aliases.two.names[0]: this is already a name of the alias chat\n");
    EXPECT_EQ(problems_of(with(text, "NAMES", "chat")),
              "f:29:13: aliases.two.names[0]: this is already a name of the alias chat\n");
    EXPECT_EQ(problems_of(with(text, "NAMES", "two")),
              "f:29:13: aliases.two.names[0]: this is already a name of the alias two\n");
    EXPECT_EQ(config_of(with(text, "NAMES", "fresh")).aliases.find("fresh")->name, "two");
}

TEST(ConfigCheck, ContractIsCheckedAgainstEveryPool) {
    const std::string plain = "f:26:13: aliases.chat.pools[0]: plain cannot stand behind this alias: ";
    const std::string fast = "f:26:20: aliases.chat.pools[1]: fast cannot stand behind this alias: ";
    expect_problems({
        {"    family: fam\n    target", "    family: fan\n    target",
         plain + "its family is fan, the alias promises fam\n"},
        {"context: 4096", "context: 8193", plain + "its context is 8192 tokens, the alias promises 8193\n"},
        {"endpoints: [chat.completions]", "endpoints: [chat.completions, embeddings]",
         plain + "it does not serve embeddings, which the alias promises\n"},
        {"context: 8192,", "context: 8192, streaming: false,", plain + "it cannot stream, which the alias promises\n"},
    });
    const auto features =
        with(with("    context: 4096", "    features: [tools]"), "context: 8192,", "deny: [tools, logprobs],");
    EXPECT_EQ(problems_of(features), plain + "it denies tools, which the alias promises\n");
    const auto regions = with("    context: 4096", "    regions: [us]");
    EXPECT_EQ(problems_of(regions), plain + "its region eu is not among the alias's regions\n" + fast +
                                        "its region eu is not among the alias's regions\n");
    const auto no_region = with(with("    context: 4096", "    regions: [eu]"), "    region: eu\n", "");
    EXPECT_TRUE(problems_of(no_region).contains("it states no region, and the alias is restricted to some"));
    const auto policies = with("    context: 4096", "    requires_data_policies: [no-retention, audited]");
    EXPECT_EQ(problems_of(policies), plain + "it does not provide audited, which the alias requires\n" + fast +
                                         "it does not provide audited, which the alias requires\n");
}

TEST(ConfigCheck, RequiredLosslessness) {
    const auto text = [](std::string_view lossless) {
        return with(with("    context: 4096", "    require_lossless: true"), "lossless: verified",
                    "lossless: " + std::string{lossless});
    };
    EXPECT_EQ(warnings_of(text("verified")), "");
    EXPECT_EQ(warnings_of(text("declared")),
              "f:26:20: aliases.chat.pools[1]: fast is lossless by declaration only, and the alias requires it\n");
    EXPECT_EQ(problems_of(text("no")),
              "f:26:20: aliases.chat.pools[1]: fast is not lossless, which the alias requires\n");
    EXPECT_EQ(problems_of(text("unknown")),
              "f:26:20: aliases.chat.pools[1]: fast is not known to be lossless, which the alias requires\n");
}

TEST(ConfigCheck, TenantReferences) {
    expect_problems({
        {"aliases: [chat]", "aliases: [chta]",
         "f:30:15: tenants.acme.aliases[0]: there is no alias 'chta'; did you mean chat?\n"},
        {"aliases: [chat]", "aliases: [other-name]",
         "f:30:15: tenants.acme.aliases[0]: 'other-name' is another name of the alias chat; write that\n"},
        {"application: suggest", "application: sugest",
         "f:33:126: tenants.acme.keys[0].application: the team search has no application 'sugest'; did you mean "
         "suggest?\n"},
        {"team: search, ", "",
         "f:33:112: tenants.acme.keys[0].application: an application belongs to a team; give the team too\n"},
    });
}

TEST(ConfigCheck, KeysAreUnique) {
    const auto second = [](std::string_view name, std::string_view hash) {
        return valid_text() + "      - {name: " + std::string{name} + ", sha256: " + std::string{hash} + "}\n";
    };
    const auto other_hash = base::to_hex(base::sha256("other"));
    EXPECT_EQ(problems_of(second("key-two", other_hash)), "");
    EXPECT_EQ(problems_of(second("key-one", other_hash)),
              "f:34:16: tenants.acme.keys[1].name: another key of this tenant has this name\n");
    EXPECT_EQ(problems_of(second("key-two", empty_hash)),
              "f:34:33: tenants.acme.keys[1].sha256: the key acme/key-one is the same secret\n");
    const auto elsewhere = [](std::string_view hash) {
        return valid_text() + "  zeta:\n    keys: [{name: key-one, sha256: " + std::string{hash} + "}]\n";
    };
    EXPECT_EQ(problems_of(elsewhere(other_hash)), "");
    EXPECT_EQ(problems_of(elsewhere(empty_hash)),
              "f:35:36: tenants.zeta.keys[0].sha256: the key acme/key-one is the same secret\n");
}

TEST(ConfigCheck, Warnings) {
    expect_warnings({
        {"    aliases: [chat]", "    regions: [us]\n    aliases: [chat]",
         "f:30:15: tenants.acme.regions[0]: no pool is in the region 'us'\n"
         "f:31:15: tenants.acme.aliases[0]: no pool of this alias satisfies the tenant's regions and data policies\n"},
        {"    aliases: [chat]", "    requires_data_policies: [no-retentoin]",
         "f:30:30: tenants.acme.requires_data_policies[0]: no pool provides 'no-retentoin'; did you mean "
         "no-retention?\n"},
        {"provides: [no-retention]", "provides: [no-retention, no-retention]",
         "f:10:30: pools.plain.provides[1]: listed twice\n"},
        {"names: [other-name]", "names: [other-name, other-name]", "f:22:25: aliases.chat.names[1]: listed twice\n"},
        {", {pool: fast, order: 2}", "", "f:12:3: pools.fast: no alias uses this pool\n"},
        {"http://10.0.0.2:8000", "http://10.0.0.1:8000",
         "f:14:16: pools.fast.replicas[0]: also a replica of plain: each pool counts only its own load on it\n"},
    });
    EXPECT_EQ(warnings_of("version: 1\nserver: {listen: \"127.0.0.1:8080\"}\naliases:\ntenants:\n"),
              "f:3:1: aliases: there are none, so nothing can be called\nf:4:1: tenants: the file has no key; only "
              "keys from the store can call\n");
}

}  // namespace
}  // namespace weir::config
