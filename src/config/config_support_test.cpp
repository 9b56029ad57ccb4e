#include "config/test_config.h"

#include <gtest/gtest.h>

namespace weir::config::testing {

std::string valid_text() {
    return R"(version: 1
server: {listen: "127.0.0.1:8080"}
pools:
  plain:
    engine: vllm
    replicas: ["http://10.0.0.1:8000"]
    family: fam
    target: {model: org/model}
    region: eu
    provides: [no-retention]
    capabilities: {context: 8192, endpoints: [chat.completions, completions]}
  fast:
    engine: vllm
    replicas: ["http://10.0.0.2:8000"]
    family: fam
    target: {model: org/model}
    region: eu
    provides: [no-retention]
    speculation: {method: eagle3, draft: org/draft, proposal_length: 3, lossless: verified}
aliases:
  chat:
    names: [other-name]
    family: fam
    endpoints: [chat.completions]
    context: 4096
    pools: [plain, {pool: fast, order: 2}]
    baseline: plain
tenants:
  acme:
    aliases: [chat]
    teams: {search: {applications: {suggest: {workload: code}}}}
    keys:
      - {name: key-one, sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855, team: search, application: suggest}
)";
}

std::string with(std::string text, std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << "the text has no " << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string with(std::string_view from, std::string_view to) { return with(valid_text(), from, to); }

Environment test_environment() {
    return {.variable = [](const std::string& name) -> std::optional<std::string> {
                if (name == "PRESENT") return "yes";
                if (name == "EMPTY") return "";
                if (name == "MULTI") return "two\nlines";
                if (name == "NESTED") return "${PRESENT}";
                return std::nullopt;
            },
            .file = [](const std::string& path) -> base::Result<std::string> {
                if (path == "secret.txt" || path == "conf/secret.txt") return "hunter2\n";
                return base::fail(base::ErrorCode::not_found, "cannot read " + path + ": no such file");
            }};
}

std::string problems_of(std::string_view text) {
    const auto config = parse(text, "f", test_environment());
    return config ? "" : config.error().format();
}

std::string warnings_of(std::string_view text) {
    const auto config = parse(text, "f", test_environment());
    EXPECT_TRUE(config) << config.error().format();
    return config ? config->warnings.format() : "";
}

Config config_of(std::string_view text) {
    auto config = parse(text, "f", test_environment());
    EXPECT_TRUE(config) << config.error().format();
    return config ? std::move(*config) : Config{};
}

}  // namespace weir::config::testing
