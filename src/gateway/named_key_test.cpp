#include "gateway/named_key.h"

#include "auth/test_keys.h"

#include <gtest/gtest.h>

namespace weir::gateway {
namespace {

using auth::test::layer_of;
using auth::test::noon;
using namespace std::chrono_literals;
using Keys = std::vector<auth::test::Key>;

// The configuration's keys, what changed in the store, what the store had before.
auth::KeyTable table(const Keys& configured, const Keys& changed = {}, const Keys& stored = {}) {
    return auth::KeyTable{{layer_of(configured), layer_of(changed), layer_of(stored)}};
}

std::string error_of(const auth::KeyTable& keys, std::string_view name) {
    const auto found = find_named_key(keys, name, noon);
    return found ? "found " + std::string{found->entry.caller.key} : found.error().message();
}

TEST(NamedKey, IsFoundInEveryLayerWithWhatTheConfigurationSaysOfIt) {
    const auto keys = table({{.name = "one", .secret = "1"}}, {{.name = "two", .secret = "2", .tenant = "globex"}},
                            {{.name = "three", .secret = "3", .workload = "code"}});
    EXPECT_EQ(find_named_key(keys, "one", noon)->entry.tenant, 7U);
    EXPECT_EQ(find_named_key(keys, "two", noon)->entry.tenant, 8U);
    const auto three = find_named_key(keys, "acme/three", noon);
    EXPECT_EQ(three->entry.caller.workload, "code");
    EXPECT_TRUE(three->works());
}

TEST(NamedKey, WhatALayerHidesOrTookAwayIsNotThere) {
    const auto keys = table({}, {{.name = "gone", .secret = "1", .revoked = true}, {.name = "renamed", .secret = "2"}},
                            {{.name = "gone", .secret = "1"}, {.name = "former", .secret = "2"}});
    EXPECT_EQ(error_of(keys, "gone"), "there is no key 'gone'");
    EXPECT_EQ(error_of(keys, "former"), "there is no key 'former'");
    EXPECT_EQ(error_of(keys, "renamed"), "found renamed");
    EXPECT_EQ(error_of(keys, ""), "there is no key ''");
    EXPECT_EQ(error_of(keys, "renamde"), "there is no key 'renamde'; did you mean renamed?");
}

TEST(NamedKey, OfTwoInARotationTheOneThatWorks) {
    const auto keys =
        table({}, {}, {{.name = "k", .secret = "old", .expires = noon - 1h}, {.name = "k", .secret = "new"}});
    EXPECT_TRUE(find_named_key(keys, "k", noon)->alive);
    const auto expired = table({}, {}, {{.name = "k", .secret = "old", .expires = noon - 1h}});
    EXPECT_FALSE(find_named_key(expired, "k", noon)->alive);
}

TEST(NamedKey, OfSeveralTenantsOneMustBeNamed) {
    const auto keys = table({{.name = "k", .secret = "1"}}, {}, {{.name = "k", .secret = "2", .tenant = "globex"}});
    EXPECT_EQ(error_of(keys, "k"), "several tenants have a key 'k'; write it as acme/k");
    EXPECT_EQ(find_named_key(keys, "globex/k", noon)->entry.tenant, 8U);
    EXPECT_EQ(error_of(keys, "acme/"), "there is no key 'acme/'") << "a prefix is no name";
}

TEST(NamedKey, OfATenantThatIsNotConfiguredItIsNotUsable) {
    const auto keys = table({}, {}, {{.name = "k", .secret = "1", .tenant = "nobody"}});
    const auto found = find_named_key(keys, "k", noon);
    EXPECT_TRUE(found->alive);
    EXPECT_FALSE(found->works());
}

TEST(NamedKey, TheOnlyKeyIsTheOneWhenThereIsJustOne) {
    EXPECT_FALSE(only_key(table({}), noon));
    EXPECT_EQ(only_key(table({{.name = "one", .secret = "1"}}), noon)->entry.caller.key, "one");
    EXPECT_EQ(only_key(table({}, {{.name = "x", .secret = "1", .revoked = true}},
                             {{.name = "x", .secret = "1"}, {.name = "two", .secret = "2"}}),
                       noon)
                  ->entry.caller.key,
              "two");
    EXPECT_FALSE(only_key(table({{.name = "one", .secret = "1"}}, {}, {{.name = "two", .secret = "2"}}), noon));
}

}  // namespace
}  // namespace weir::gateway
