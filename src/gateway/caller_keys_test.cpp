#include "gateway/caller_keys.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::gateway {
namespace {

constexpr auto document = R"(version: 1
server: {listen: "127.0.0.1:0"}
pools: {main: {engine: llamacpp, replicas: ["http://127.0.0.1:9"], family: h, target: {model: m}}}
aliases: {chat: {family: h, endpoints: [chat.completions], pools: [main]}}
tenants:
  other: {}
  acme:
    teams: {search: {applications: {box: {workload: code}, bot: {}}}}
    keys:
      - {name: full, sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, team: search,
         application: box, expires: 2027-06-30, permissions: [debug]}
      - {name: bare, sha256: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb}
)";

std::shared_ptr<const Snapshot> snapshot() {
    auto config = config::parse(document, "test.yaml", config::Environment::none());
    EXPECT_TRUE(config) << (config ? "" : config.error().format());
    auto made = std::make_shared<Snapshot>();
    made->config = *std::move(config);
    return made;
}

TEST(CallerKeys, AreTheConfigurations) {
    const auto keys = configured_keys(snapshot()->config);
    ASSERT_TRUE(keys);
    EXPECT_EQ(keys->size(), 2U);
    const auto* full = keys->find(*base::sha256_from_hex(std::string(64, 'a')));
    ASSERT_NE(full, nullptr);
    EXPECT_EQ(keys->name_of(*full), "full");
    EXPECT_TRUE(full->permissions.contains(model::Permission::debug));
    const auto& scope = keys->scopes()[full->scope];
    EXPECT_EQ(scope.view(),
              (model::KeyScope{.tenant = "acme", .team = "search", .application = "box", .workload = ""}));
    const base::WallTime last{std::chrono::sys_days{std::chrono::year{2027} / 7 / 1}};
    EXPECT_TRUE(full->alive(last - std::chrono::nanoseconds{1})) << "the last day on which it works";
    EXPECT_FALSE(full->alive(last));
    EXPECT_TRUE(keys->find(*base::sha256_from_hex(std::string(64, 'b')))->alive(base::WallTime::max()));
}

struct BindCase {
    std::string name;
    model::KeyScope scope;
    bool usable;
    std::string workload = {};
};

TEST(CallerKeys, AScopeIsUsableWhenTheConfigurationKnowsAllOfIt) {
    const auto config = snapshot();
    const auto bind = key_binder(config);
    for (const auto& each : std::vector<BindCase>{
             {.name = "tenant", .scope = {.tenant = "acme"}, .usable = true},
             {.name = "team", .scope = {.tenant = "acme", .team = "search"}, .usable = true},
             {.name = "application",
              .scope = {.tenant = "acme", .team = "search", .application = "box"},
              .usable = true,
              .workload = "code"},
             {.name = "an application without a workload",
              .scope = {.tenant = "acme", .team = "search", .application = "bot"},
              .usable = true},
             {.name = "the key's own workload",
              .scope = {.tenant = "acme", .team = "search", .application = "box", .workload = "chat"},
              .usable = true,
              .workload = "chat"},
             {.name = "a workload without an application",
              .scope = {.tenant = "acme", .workload = "chat"},
              .usable = true,
              .workload = "chat"},
             {.name = "no tenant", .scope = {}, .usable = false},
             {.name = "an unknown tenant", .scope = {.tenant = "left"}, .usable = false},
             {.name = "an unknown team", .scope = {.tenant = "acme", .team = "left"}, .usable = false},
             {.name = "another tenant's team", .scope = {.tenant = "other", .team = "search"}, .usable = false},
             {.name = "an unknown application",
              .scope = {.tenant = "acme", .team = "search", .application = "left"},
              .usable = false},
             {.name = "an application without a team",
              .scope = {.tenant = "acme", .application = "box"},
              .usable = false},
         }) {
        const auto binding = bind(each.scope);
        EXPECT_EQ(binding.usable(), each.usable) << each.name;
        if (!each.usable) continue;
        EXPECT_EQ(config->config.tenants[binding.tenant].name, each.scope.tenant) << each.name;
        EXPECT_EQ(binding.workload, each.workload) << each.name;
    }
}

}  // namespace
}  // namespace weir::gateway
