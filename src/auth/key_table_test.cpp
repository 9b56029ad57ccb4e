#include "auth/key_table.h"

#include "auth/test_keys.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace weir::auth {
namespace {

using namespace std::chrono_literals;
using test::Key;
using test::layer_of;
using test::noon;

KeyTable table_of(const std::vector<Key>& configured, const std::vector<Key>& changed = {},
                  const std::vector<Key>& stored = {}) {
    return KeyTable{{layer_of(configured), layer_of(changed), layer_of(stored)}};
}

// The name of the key that a secret is found to be, "" = none.
std::string caller_of(const KeyTable& table, std::string_view secret, base::WallTime now = noon) {
    const auto entry = table.authenticate(secret, now);
    return std::string{entry ? entry->caller.key : ""};
}

TEST(KeyTable, FindsTheCallerOfASecret) {
    Key second{.name = "two", .secret = "sk-two", .tenant = "globex", .team = "search", .application = "box"};
    second.workload = "code";
    second.permissions.add(model::Permission::priority);
    const KeyTable table = table_of({{.name = "one", .secret = "sk-one"}, second});
    const auto found = table.authenticate("sk-two", noon);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->caller.key, "two");
    EXPECT_EQ(found->caller.tenant, "globex");
    EXPECT_EQ(found->caller.team, "search");
    EXPECT_EQ(found->caller.application, "box");
    EXPECT_EQ(found->caller.workload, "code");
    EXPECT_TRUE(found->caller.permissions.contains(model::Permission::priority));
    EXPECT_FALSE(found->caller.permissions.contains(model::Permission::debug));
    EXPECT_EQ(found->tenant, 8U);
}

TEST(KeyTable, AllFailuresAreTheSameAnswer) {
    const KeyTable table = table_of({{.name = "one", .secret = "sk-one"},
                                     {.name = "old", .secret = "sk-old", .expires = noon - 1s},
                                     {.name = "gone", .secret = "sk-gone", .revoked = true},
                                     {.name = "homeless", .secret = "sk-homeless", .tenant = "nobody"}});
    for (const std::string_view secret :
         {"", "sk-unknown", "sk-one ", "sk-on", "SK-ONE", "sk-old", "sk-gone", "sk-homeless"})
        EXPECT_FALSE(table.authenticate(secret, noon)) << secret;
    EXPECT_FALSE(table.authenticate(base::to_hex(base::sha256("sk-one")), noon)) << "a digest is no secret";
}

TEST(KeyTable, TheDigestOfNothingIsNoKey) {
    const KeyTable table = table_of({{.name = "empty", .secret = ""}});
    EXPECT_FALSE(table.authenticate("", noon));
}

TEST(KeyTable, AKeyWorksUntilTheMomentItExpires) {
    const KeyTable table = table_of({{.name = "dated", .secret = "sk-dated", .expires = noon}});
    EXPECT_TRUE(table.authenticate("sk-dated", noon - 1ns));
    EXPECT_FALSE(table.authenticate("sk-dated", noon));
    EXPECT_FALSE(table.authenticate("sk-dated", noon + 1h));
}

TEST(KeyTable, AnEmptyTableKnowsNobody) {
    EXPECT_FALSE(KeyTable{}.authenticate("sk", noon));
    EXPECT_FALSE(table_of({}).authenticate("sk", noon));
}

TEST(KeyTable, TwoKeysWithOneSecretAreRefusedAndNamed) {
    KeySetBuilder builder;
    const Key one{.name = "one", .secret = "same"};
    const Key two{.name = "two", .secret = "same"};
    builder.add(one.row());
    builder.add(two.row());
    const auto set = std::move(builder).build(Twins::refused);
    ASSERT_FALSE(set.has_value());
    EXPECT_EQ(set.error().code(), base::ErrorCode::invalid_argument);
    EXPECT_NE(set.error().message().find("'one'"), std::string::npos) << set.error().message();
    EXPECT_NE(set.error().message().find("'two'"), std::string::npos) << set.error().message();
    EXPECT_EQ(set.error().message().find("same secret "), std::string::npos);
}

struct LayerCase {
    std::string name;
    std::vector<Key> configured;
    std::vector<Key> changed;
    std::vector<Key> stored;
    std::string expected;  // of the secret "sk"
};

std::vector<LayerCase> layer_cases() {
    const Key configured{.name = "configured", .secret = "sk"};
    const Key changed{.name = "changed", .secret = "sk"};
    const Key stored{.name = "stored", .secret = "sk"};
    auto revoked = changed;
    revoked.revoked = true;
    auto expired = changed;
    expired.expires = noon - 1s;
    return {
        {.name = "stored only", .configured = {}, .changed = {}, .stored = {stored}, .expected = "stored"},
        {.name = "changed only", .configured = {}, .changed = {changed}, .stored = {}, .expected = "changed"},
        {.name = "a change hides", .configured = {}, .changed = {changed}, .stored = {stored}, .expected = "changed"},
        {.name = "a revocation hides", .configured = {}, .changed = {revoked}, .stored = {stored}, .expected = ""},
        {.name = "an expiry hides", .configured = {}, .changed = {expired}, .stored = {stored}, .expected = ""},
        {.name = "the file decides",
         .configured = {configured},
         .changed = {revoked},
         .stored = {stored},
         .expected = "configured"},
    };
}

TEST(KeyTable, TheFirstLayerThatHasTheDigestDecides) {
    for (const auto& each : layer_cases())
        EXPECT_EQ(caller_of(table_of(each.configured, each.changed, each.stored), "sk"), each.expected) << each.name;
}

TEST(KeyTable, EveryOneOfManyKeysIsFound) {
    std::vector<Key> keys;
    for (int index = 0; index < 5000; ++index)
        keys.push_back({.name = "key" + std::to_string(index), .secret = "sk-" + std::to_string(index)});
    const KeyTable table = table_of({}, {}, keys);
    EXPECT_EQ(table.layers()[2].keys().size(), 5000U);
    for (int index = 0; index < 5000; ++index)
        ASSERT_EQ(caller_of(table, "sk-" + std::to_string(index)), "key" + std::to_string(index));
    for (int index = 5000; index < 6000; ++index)
        EXPECT_FALSE(table.authenticate("sk-" + std::to_string(index), noon));
}

}  // namespace
}  // namespace weir::auth
