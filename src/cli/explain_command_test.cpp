#include "cli/explain_command.h"

#include "cli/test_output.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace weir::cli {
namespace {

// `body` comes from standard input.
test::Outcome explain(ExplainOptions options, std::string_view body = R"({"model":"chat-large"})") {
    std::FILE* in = std::tmpfile();
    std::fwrite(body.data(), 1, body.size(), in);
    std::rewind(in);
    if (options.request_path.empty()) options.request_path = "-";
    auto outcome = test::run([&](std::FILE* out, std::FILE* err) { return run_explain(options, in, out, err); });
    std::fclose(in);
    return outcome;
}

std::string example() { return std::string{WEIR_TEST_DATA} + "/../../examples/two-pools.yaml"; }

TEST(ExplainCommand, SaysTheAnswerFirst) {
    const auto [code, out, err] =
        explain({.config_path = example(), .key = "acme-debug"}, R"({"model":"claude-large","prompt_logprobs":1})");
    EXPECT_EQ(code, 0);
    EXPECT_EQ(err, "");
    EXPECT_EQ(
        out,
        "Would be served by pool llama70b-ar, arm baseline, because it is the only eligible pool.\n"
        "\n"
        "caller   tenant acme, key acme-debug, may debug\n"
        "request  chat.completions, model 'claude-large', prompt_logprobs, 44 bytes\n"
        "alias    chat-large\n"
        "signals  none (offline)\n"
        "\n"
        "POOL             ARM        ORDER  SHARE  VERDICT\n"
        "llama70b-ar      baseline       1   100%  eligible\n"
        "llama70b-eagle3  candidate      2      -  parameter_unsupported:prompt_logprobs\n"
        "\n"
        "REPLICA                POOL             STATE    IN FLIGHT  LIMIT  SHARE\n"
        "http://127.0.0.1:8001  llama70b-ar      unknown          0     32   100%\n"
        "http://127.0.0.1:8002  llama70b-eagle3  unknown          0     16      -\n"
        "\n"
        "llama70b-eagle3: parameter_unsupported:prompt_logprobs\n"
        "  Leave 'prompt_logprobs' out of the request; only if the engine honours it and "
        "pools.llama70b-eagle3.capabilities.deny names it, take it from there.\n"
        "note: There are no signals offline: every replica counts as usable with nothing in flight, as in a gateway "
        "that has just started. Ask a running gateway with --admin.\n");
}

TEST(ExplainCommand, ARefusalExitsOne) {
    const auto [code, out, err] = explain({.config_path = example()}, R"({"model":"chat-lrge"})");
    EXPECT_EQ(code, 1);
    EXPECT_TRUE(out.starts_with(
        "Would be refused with 404 model_not_found: There is no such model for your key; see GET /v1/models.\n"
        "No alias is called 'chat-lrge'; did you mean chat-large? aliases.NAME.names gives an alias further names.\n"))
        << out;
}

TEST(ExplainCommand, JsonIsOneLine) {
    const auto [code, out, err] = explain({.config_path = example(), .json = true});
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(out.starts_with(R"({"outcome":"served","signals":"none",)")) << out;
    EXPECT_EQ(out.find('\n'), out.size() - 1);
}

TEST(ExplainCommand, WhatItCannotAnswerIsUsageOrEnvironment) {
    struct Case {
        ExplainOptions options;
        int code;
        std::string_view err;
    };
    const Case cases[] = {
        {{.config_path = example(), .endpoint = "chat"}, 2, "weir explain: --endpoint: there is no 'chat'; use chat"},
        {{.config_path = example(), .key = "acme-debgu"}, 2, "weir explain: --key: there is no key 'acme-debgu'; did"},
        {{.config_path = ""}, 2, "weir explain: give either --config FILE or --admin URL"},
        {{.config_path = example(), .admin_url = "http://127.0.0.1:1"}, 2, "weir explain: give either"},
        {{.config_path = "nowhere.yaml"}, 3, "nowhere.yaml: cannot read nowhere.yaml: No such file or directory\n"},
        {{.config_path = example(), .request_path = "nowhere.json"}, 3, "weir explain: cannot read nowhere.json: No"},
        {{.config_path = example(), .request_path = "."}, 3, "weir explain: cannot read .: Is a directory"},
    };
    for (const auto& c : cases) {
        const auto [code, out, err] = explain(c.options);
        EXPECT_EQ(code, c.code) << c.err;
        EXPECT_TRUE(err.starts_with(c.err)) << err;
        EXPECT_EQ(out, "");
    }
}

}  // namespace
}  // namespace weir::cli
