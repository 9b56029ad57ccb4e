#include "admin/access.h"

#include "base/sha256.h"

#include <gtest/gtest.h>

#include <array>

namespace weir::admin {
namespace {

using config::Role;

config::Server server(std::string host = "127.0.0.1") {
    config::Server made;
    made.admin_listen = {.host = std::move(host), .port = 8081};
    return made;
}

config::Server with_tokens(std::string host = "127.0.0.1") {
    auto made = server(std::move(host));
    made.admin_tokens = {{.name = "ann", .sha256 = base::sha256("ann-token"), .role = Role::operator_},
                         {.name = "bob", .sha256 = base::sha256("bob-token"), .role = Role::viewer}};
    return made;
}

TEST(Access, WithoutTokensWhoeverReachesLoopbackIsTheAdministrator) {
    const auto somebody = authenticate(access_rules(server(), "127.0.0.1:8081"), std::nullopt);
    ASSERT_TRUE(somebody);
    EXPECT_EQ(somebody->name, "local");
    EXPECT_EQ(somebody->role, Role::admin);
    EXPECT_TRUE(authenticate(access_rules(server("::1"), "[::1]:8081"), "Bearer anything"));
}

// A reload may take the tokens away and name a loopback address, but the port stays where it is bound.
TEST(Access, WithoutTokensNobodyGetsInElsewhere) {
    EXPECT_FALSE(authenticate(access_rules(server(), "0.0.0.0:8081"), std::nullopt));
    EXPECT_FALSE(authenticate(access_rules(server(), "[::]:8081"), std::nullopt));
    EXPECT_FALSE(authenticate(access_rules(server(), "10.0.0.1:8081"), std::nullopt));
    EXPECT_FALSE(authenticate({}, std::nullopt));
}

TEST(Access, ATokenSaysWhoActs) {
    const auto rules = access_rules(with_tokens(), "127.0.0.1:8081");
    EXPECT_EQ(authenticate(rules, "Bearer ann-token")->name, "ann");
    EXPECT_EQ(authenticate(rules, "bearer bob-token")->role, Role::viewer);
    for (const auto* wrong : {"Bearer ann-toke", "Bearer ann-token2", "Bearer ", "Bearer", "", "Basic ann-token",
                              "ann-token", "Bearer ANN-TOKEN"})
        EXPECT_FALSE(authenticate(rules, wrong)) << wrong;
    EXPECT_FALSE(authenticate(rules, std::nullopt)) << "loopback does not excuse a configured token";
}

TEST(Access, RolesAllowTheirOwnAndViewing) {
    constexpr std::array roles{Role::viewer, Role::operator_, Role::approver, Role::admin};
    for (const auto role : roles)
        for (const auto needed : roles) {
            const bool expected = needed == Role::viewer || role == needed || role == Role::admin;
            EXPECT_EQ(allows(role, needed), expected) << name_of(role) << " for " << name_of(needed);
        }
    EXPECT_FALSE(allows(Role::operator_, Role::approver));
    EXPECT_FALSE(allows(Role::approver, Role::operator_));
}

TEST(Access, OnlyKnownNamesReachItByLoopback) {
    auto config = server();
    config.admin_hosts = {"weir-admin.svc"};
    const auto rules = access_rules(config, "127.0.0.1:8081");
    for (const auto* good : {"127.0.0.1:8081", "localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8081", "weir-admin.svc",
                             "Weir-Admin.SVC:80"})
        EXPECT_TRUE(host_allowed(rules, good)) << good;
    for (const auto* bad : {"", ":8081", "evil.example", "evil.example:8081", "localhost.evil.example", "10.0.0.5:8081",
                            "127.0.0.1.evil.example", "[::1", "weir-admin.svc.evil", "xlocalhost", "localhost:evil",
                            "localhost:80:evil.example", "[::1]evil.example", "localhost:808080"})
        EXPECT_FALSE(host_allowed(rules, bad)) << bad;
}

TEST(Access, ElsewhereItsAddressesReachItToo) {
    const auto rules = access_rules(with_tokens("0.0.0.0"), "0.0.0.0:8081");
    EXPECT_TRUE(host_allowed(rules, "10.0.0.5:8081"));
    EXPECT_TRUE(host_allowed(rules, "[fd00::5]:8081"));
    EXPECT_TRUE(host_allowed(rules, "localhost:8081"));
    EXPECT_FALSE(host_allowed(rules, "evil.example:8081"));
    const auto named = access_rules(with_tokens("weir.internal"), "10.0.0.5:8081");
    EXPECT_TRUE(host_allowed(named, "weir.internal:8081"));
}

}  // namespace
}  // namespace weir::admin
