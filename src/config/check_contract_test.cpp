// The alias's contract against each of its pools: what is an error, what a warning, and where.
#include "config/test_config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::config {
namespace {

using namespace testing;

const std::string plain_at = "f:26:13: aliases.chat.pools[0]: plain ";
const std::string fast_at = "f:26:20: aliases.chat.pools[1]: fast ";
const std::string broken = "cannot keep all of the alias's promises: ";
const std::string elsewhere = "; such requests go to the alias's other pools\n";

// vLLM serves chat only, and eagle3 does not do tools.
EngineFacts facts() {
    return {.endpoints =
                [](const Pool&) {
                    model::EndpointSet chat;
                    chat.add(model::Endpoint::chat_completions);
                    return chat;
                },
            .objection = [](const Pool& pool, model::Feature feature) -> std::string {
                const bool refuses = pool.speculation.active() && feature == model::Feature::tools;
                return refuses ? "vllm rejects tools with eagle3" : "";
            }};
}

struct Said {
    std::string problems;
    std::string warnings;
    friend bool operator==(const Said&, const Said&) = default;
    friend void PrintTo(const Said& said, std::ostream* out) {
        *out << "problems: " << said.problems << " warnings: " << said.warnings;
    }
};

Said said_of(const std::string& text, const EngineFacts& engines = {}) {
    const auto config = parse(text, "f", test_environment(), engines);
    return config ? Said{"", config->warnings.format()} : Said{config.error().format(), ""};
}

struct Case {
    std::string from;
    std::string to;
    Said expected;
};

TEST(ConfigContract, APoolThatCouldNeverServeIsAnError) {
    const Case cases[] = {
        {"    family: fam\n    target",
         "    family: fan\n    target",
         {plain_at + "cannot stand behind this alias: its family is fan, the alias promises fam\n", ""}},
        {"    context: 4096",
         "    regions: [us]",
         {plain_at + "cannot stand behind this alias: its region eu is not among the alias's regions\n" + fast_at +
              "cannot stand behind this alias: its region eu is not among the alias's regions\n",
          ""}},
        {"    context: 4096",
         "    requires_data_policies: [no-retention, audited]",
         {plain_at + "cannot stand behind this alias: it does not provide audited, which the alias requires\n" +
              fast_at + "cannot stand behind this alias: it does not provide audited, which the alias requires\n",
          ""}},
    };
    for (const auto& c : cases)
        EXPECT_EQ(said_of(with(c.from, c.to)), c.expected) << c.to;
    const auto no_region = with(with("    context: 4096", "    regions: [eu]"), "    region: eu\n", "");
    EXPECT_TRUE(problems_of(no_region).contains("it states no region, and the alias is restricted to some"));
}

TEST(ConfigContract, APromiseThatSomePoolKeepsIsAWarningForTheOthers) {
    const auto fast = [](std::string_view capability, std::string_view promise) {
        return with(with("    speculation:", "    capabilities: {" + std::string{capability} + "}\n    speculation:"),
                    "    context: 4096", "    " + std::string{promise});
    };
    const std::string at = "f:27:20: aliases.chat.pools[1]: fast " + broken;
    EXPECT_EQ(said_of(fast("context: 1000", "context: 4096")),
              (Said{"", at + "its context is 1000 tokens, the alias promises 4096" + elsewhere}));
    EXPECT_EQ(said_of(fast("endpoints: [completions]", "context: 4096")),
              (Said{"", at + "it does not serve chat.completions, which the alias promises" + elsewhere}));
    EXPECT_EQ(said_of(fast("streaming: false", "context: 4096")),
              (Said{"", at + "it cannot stream, which the alias promises" + elsewhere}));
    EXPECT_EQ(said_of(fast("deny: [tools, n]", "features: [tools]")),
              (Said{"", at + "it denies tools, which the alias promises" + elsewhere}));
    EXPECT_EQ(said_of(fast("streaming: false", "streaming: false")), (Said{}));
}

// Whatever is promised must hold when all traffic is forced to the baseline.
TEST(ConfigContract, APromiseThatTheBaselineCannotKeepIsAnError) {
    EXPECT_EQ(said_of(with("context: 8192,", "context: 8192, streaming: false,")).problems,
              plain_at + "cannot stand behind this alias: it cannot stream, which the alias promises\n");
    EngineFacts neither;
    neither.objection = [](const Pool& pool, model::Feature) { return pool.speculation.active() ? "" : "no"; };
    EXPECT_EQ(said_of(with("    context: 4096", "    features: [n]"), neither).problems,
              plain_at + "cannot stand behind this alias: no\n");
    const auto two =
        with(with(with("[plain, {pool: fast, order: 2}]\n    baseline: plain", "[plain, other]"), "context: 8192,",
                  "streaming: false,"),
             "  fast:\n",
             "  other: {engine: vllm, replicas: [\"http://10.0.0.3:8000\"], family: fam, target: {model: m}}\n"
             "  fast:\n");
    EXPECT_TRUE(said_of(two).warnings.contains("plain cannot keep all of the alias's promises: it cannot stream"))
        << "without a baseline it is only one of two: " << said_of(two).warnings << said_of(two).problems;
}

TEST(ConfigContract, APromiseThatNoPoolKeepsIsAnErrorWhereItIsMade) {
    const std::string nobody = "no pool of the alias can keep this promise: plain: ";
    const auto alone = [](std::string_view from, std::string_view to) {
        return with(with("[plain, {pool: fast, order: 2}]", "[plain]"), from, to);
    };
    EXPECT_EQ(said_of(alone("context: 4096", "context: 8193")).problems,
              "f:25:14: aliases.chat.context: " + nobody + "its context is 8192 tokens, the alias promises 8193\n");
    EXPECT_EQ(
        said_of(alone("endpoints: [chat.completions]", "endpoints: [chat.completions, embeddings]")).problems,
        "f:24:35: aliases.chat.endpoints[1]: " + nobody + "it does not serve embeddings, which the alias promises\n");
    EXPECT_EQ(said_of(alone("context: 8192,", "context: 8192, streaming: false,")).problems,
              "f:21:3: aliases.chat.streaming: " + nobody + "it cannot stream, which the alias promises\n");
    const auto features =
        with(alone("    context: 4096", "    features: [n, tools]"), "context: 8192,", "deny: [tools],");
    EXPECT_EQ(said_of(features).problems,
              "f:25:19: aliases.chat.features[1]: " + nobody + "it denies tools, which the alias promises\n");
    const auto both = with(with(with("    context: 4096", "    features: [tools]"), "context: 8192,", "deny: [tools],"),
                           "    speculation:", "    capabilities: {deny: [tools]}\n    speculation:");
    EXPECT_EQ(said_of(both).problems,
              "f:26:16: aliases.chat.features[0]: " + nobody +
                  "it denies tools, which the alias promises; fast: it denies tools, which the alias promises\n");
}

TEST(ConfigContract, EnginesHaveTheirSay) {
    EXPECT_EQ(said_of(valid_text(), facts()), (Said{}));
    const auto tools = with("    context: 4096", "    features: [tools]");
    EXPECT_EQ(said_of(tools), (Said{}));
    EXPECT_EQ(said_of(tools, facts()), (Said{"", fast_at + broken + "vllm rejects tools with eagle3" + elsewhere}));
    const auto completions = with("endpoints: [chat.completions]\n", "endpoints: [chat.completions, completions]\n");
    EXPECT_EQ(said_of(completions, facts()),
              (Said{"", fast_at + broken +
                            "it does not serve completions, which the alias promises (if it does, say so in "
                            "capabilities.endpoints)" +
                            elsewhere}));
}

TEST(ConfigContract, AnUnmeasuredPoolGetsNothingWhereNoneIsAllowed) {
    EXPECT_EQ(
        said_of(with("    context: 4096", "    allow_unmeasured: false")),
        (Said{"", fast_at + "has no measured profile, and the alias allows no unmeasured pool: it gets no request\n"}));
    const auto measured = with(with("    context: 4096", "    allow_unmeasured: false"),
                               "    speculation:", "    profiles: [p]\n    speculation:");
    EXPECT_FALSE(said_of(measured).warnings.contains("no measured profile")) << said_of(measured).warnings;
}

TEST(ConfigContract, PoolsThatDoNotExistAreReportedOnce) {
    EXPECT_EQ(said_of(with("[plain, {", "[plan, plain, {")).problems,
              "f:26:13: aliases.chat.pools[0]: there is no pool 'plan'; did you mean plain?\n");
    const auto none = with(with("[plain, {pool: fast, order: 2}]", "[plan]"), "    baseline: plain\n", "");
    EXPECT_EQ(said_of(none).problems, "f:26:13: aliases.chat.pools[0]: there is no pool 'plan'; did you mean plain?\n");
}

}  // namespace
}  // namespace weir::config
