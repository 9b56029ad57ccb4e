#include "config/config.h"

#include "base/sha256.h"
#include "config/test_config.h"

#include <gtest/gtest.h>

#include <chrono>

namespace weir::config {
namespace {

using namespace std::chrono_literals;
using namespace testing;

std::string example(const std::string& name) { return std::string{WEIR_TEST_DATA} + "/../../examples/" + name; }

Environment example_environment() {
    auto environment = Environment::process();
    environment.variable = [](const std::string& name) { return std::optional<std::string>{"value-of-" + name}; };
    return environment;
}

TEST(Config, ValidTextHasNeitherProblemsNorWarnings) {
    EXPECT_EQ(problems_of(valid_text()), "");
    EXPECT_EQ(warnings_of(valid_text()), "");
}

TEST(Config, EveryExampleIsValidWithoutWarnings) {
    for (const std::string name : {"minimal.yaml", "two-pools.yaml", "full.yaml"}) {
        const auto config = load(example(name), example_environment());
        ASSERT_TRUE(config) << config.error().format();
        EXPECT_EQ(config->warnings.format(), "") << name;
    }
}

TEST(Config, DefaultsAreThoseOfTheContract) {
    const auto config = config_of(valid_text());
    const auto& server = config.server;
    EXPECT_EQ(server.admin_listen, (base::HostPort{"127.0.0.1", 8081}));
    EXPECT_EQ(server.metrics_listen, (base::HostPort{"127.0.0.1", 9464}));
    EXPECT_EQ(server.workers, 0U);
    EXPECT_EQ(server.drain.timeout, 30s);
    EXPECT_EQ(server.limits.body_bytes, 32U << 20U);
    EXPECT_EQ(server.limits.response_body_bytes, 64U << 20U);
    EXPECT_EQ(server.limits.connections, 20000U);
    EXPECT_EQ(config.store.kind(), StoreKind::sqlite);
    EXPECT_EQ(config.store.sqlite_path(), "weir.db");
    EXPECT_TRUE(config.shared_limits.local());
    EXPECT_EQ(config.telemetry.access_log.path, "-");
    const auto& pool = config.pools[0];
    EXPECT_EQ(pool.timeouts.connect, 2s);
    EXPECT_EQ(pool.timeouts.first_token, 120s);
    EXPECT_EQ(pool.timeouts.idle, 60s);
    EXPECT_EQ(pool.retries.attempts, 2U);
    EXPECT_EQ(pool.health.interval, 5s);
    const auto& alias = config.aliases[0];
    EXPECT_TRUE(alias.streaming && alias.allow_unmeasured && !alias.require_lossless);
    EXPECT_EQ(alias.client_timeout, 600s);
    EXPECT_EQ(config.tenants[0].weight, 1);
}

TEST(Config, DriftDefaultDependsOnSpeculation) {
    const auto config = config_of(valid_text());
    EXPECT_EQ(config.pools.find("plain")->on_drift(), OnDrift::serve_unmeasured);
    EXPECT_EQ(config.pools.find("fast")->on_drift(), OnDrift::exclude);
    const auto stated = config_of(with("    speculation: {", "    on_drift: hold\n    speculation: {"));
    EXPECT_EQ(stated.pools.find("fast")->on_drift(), OnDrift::hold);
}

TEST(Config, FullExampleServerAndPools) {
    const auto loaded = load(example("full.yaml"), example_environment());
    ASSERT_TRUE(loaded) << loaded.error().format();
    const auto& server = loaded->server;
    ASSERT_TRUE(server.tls);
    EXPECT_EQ(server.tls->key_path, "/etc/weir/tls.key");
    ASSERT_EQ(server.admin_tokens.size(), 1U);
    EXPECT_EQ(server.admin_tokens[0].role, Role::operator_);
    EXPECT_DOUBLE_EQ(loaded->telemetry.otlp->sample, 0.1);

    ASSERT_EQ(loaded->pools.size(), 2U);
    const auto& plain = loaded->pools[0];
    EXPECT_EQ(plain.name, "llama70b-ar");
    EXPECT_EQ(plain.replicas.urls[1].text, "http://10.0.0.2:8000");
    EXPECT_EQ(plain.credential.reveal(), "value-of-LLAMA_AR_KEY");
    EXPECT_EQ(plain.gpu->memory_per_gpu_bytes, 192ULL << 30U);
    EXPECT_DOUBLE_EQ(*plain.gpu->usd_per_gpu_hour, 2.5);
    EXPECT_EQ(plain.capabilities.context_tokens, 32768U);
    const auto& fast = loaded->pools[1];
    EXPECT_EQ(fast.replicas.dns->address, (base::HostPort{"vllm-eagle3.inference.svc", 8000}));
    EXPECT_EQ(fast.speculation.method, SpeculationMethod::eagle3);
    EXPECT_EQ(fast.speculation.proposal_length, 3U);
    EXPECT_EQ(fast.speculation.lossless, Lossless::declared);
    EXPECT_TRUE(fast.capabilities.deny.contains(model::Feature::prompt_logprobs));
}

TEST(Config, FullExampleAliasesAndTenants) {
    const auto loaded = load(example("full.yaml"), example_environment());
    ASSERT_TRUE(loaded) << loaded.error().format();
    const auto* alias = loaded->aliases.find("claude-large");
    ASSERT_NE(alias, nullptr);
    EXPECT_EQ(alias->name, "chat-large");
    EXPECT_TRUE(alias->endpoints.contains(model::Endpoint::completions));
    EXPECT_FALSE(alias->endpoints.contains(model::Endpoint::embeddings));
    EXPECT_EQ(alias->objective.ttft_p95, 800ms);
    EXPECT_DOUBLE_EQ(*alias->objective.error_rate, 0.005);
    ASSERT_EQ(alias->pools.size(), 2U);
    EXPECT_EQ(alias->pools[1].order, 2U);
    EXPECT_TRUE(alias->pools[1].admitted);
    EXPECT_EQ(alias->pools[1].served_model, "my-lora");

    const auto& tenant = loaded->tenants[0];
    EXPECT_EQ(tenant.limits.input_tokens, (base::Rate{2'000'000, 1min}));
    EXPECT_EQ(tenant.teams.find("search")->applications.find("autocomplete")->limits.concurrency, 16U);
    EXPECT_TRUE(tenant.may_use("chat-large"));
    EXPECT_FALSE(tenant.may_use("another"));
    const auto& key = tenant.keys.at(0);
    EXPECT_EQ(key.sha256, base::sha256("weir-example-key"));
    EXPECT_TRUE(key.permissions.contains(model::Permission::cohort));
    EXPECT_EQ(base::to_rfc3339(*key.expires_at()), "2027-07-01T00:00:00.000Z");
}

TEST(Config, TenantWithoutAliasesMayUseAllAndWithNoneMayUseNone) {
    EXPECT_TRUE(config_of(with("    aliases: [chat]\n", "")).tenants[0].may_use("chat"));
    const auto none = with("    aliases: [chat]\n", "    aliases: []\n");
    EXPECT_FALSE(config_of(none).tenants[0].may_use("chat"));
    EXPECT_EQ(warnings_of(none), "f:30:14: tenants.acme.aliases: the tenant may use no alias\n");
}

TEST(Config, BarePoolNameIsShortForTheMap) {
    const auto config = config_of(valid_text());
    const auto& use = config.aliases[0].pools[0];
    EXPECT_EQ(use.pool, "plain");
    EXPECT_EQ(use.order, 1U);
    EXPECT_FALSE(use.admitted);
}

TEST(Config, VersionHashIsOfTheTextWithReferencesUnresolved) {
    const auto text = with("    region: eu", "    credential: ${PRESENT}\n    region: eu");
    const auto config = config_of(text);
    EXPECT_EQ(config.version_hash, base::to_hex(base::sha256(text)).substr(0, 12));
    auto environment = test_environment();
    environment.variable = [](const std::string&) { return std::optional<std::string>{"another"}; };
    EXPECT_EQ(parse(text, "f", environment)->version_hash, config.version_hash);
}

TEST(Config, UnreadableFileIsOneProblemWithoutPosition) {
    const auto missing = load("does-not-exist.yaml", Environment::none());
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().format(),
              "does-not-exist.yaml: cannot read does-not-exist.yaml: No such file or directory\n");
    EXPECT_TRUE(load(WEIR_TEST_DATA, Environment::none()).error().format().contains("it is a directory"));
}

TEST(Config, CrLfAndByteOrderMarkAreNoTrouble) {
    std::string text;
    for (const char c : valid_text())
        text += c == '\n' ? std::string{"\r\n"} : std::string{c};
    EXPECT_EQ(problems_of(text), "");
    EXPECT_EQ(problems_of("\xEF\xBB\xBF" + valid_text()), "");
}

TEST(Config, TenThousandKeysLoadInReasonableTime) {
    auto text = valid_text();
    for (int i = 0; i < 10'000; ++i)
        text += "      - {name: k" + std::to_string(i) + ", sha256: " + base::to_hex(base::sha256(std::to_string(i))) +
                ", team: search}\n";
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(config_of(text).tenants[0].keys.size(), 10'001U);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

}  // namespace
}  // namespace weir::config
