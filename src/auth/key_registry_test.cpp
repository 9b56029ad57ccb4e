#include "auth/key_registry.h"

#include "auth/test_keys.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::auth {
namespace {

using test::bind;
using test::Key;
using test::noon;
using test::set_of;

Key key(const std::string& name) { return {.name = name, .secret = "sk-" + name}; }

Key revoked(const std::string& name) {
    auto gone = key(name);
    gone.revoked = true;
    return gone;
}

std::vector<Key> numbered(int first, int count, bool revoke = false) {
    std::vector<Key> keys;
    for (int i = first; i < first + count; ++i)
        keys.push_back(revoke ? revoked(std::to_string(i)) : key(std::to_string(i)));
    return keys;
}

bool knows(const KeyRegistry& registry, const std::string& name) {
    return registry.table()->authenticate("sk-" + name, noon).has_value();
}

KeyRegistry configured(const std::vector<Key>& keys = {}) {
    KeyRegistry registry;
    registry.configure(set_of(keys), bind);
    return registry;
}

TEST(KeyRegistry, HasTheConfigurationsKeysAndTheStores) {
    auto registry = configured({key("file")});
    registry.replace_stored(set_of({key("stored")}));
    EXPECT_TRUE(knows(registry, "file"));
    EXPECT_TRUE(knows(registry, "stored"));
    EXPECT_FALSE(knows(registry, "other"));
}

TEST(KeyRegistry, KnowsNobodyAtFirst) { EXPECT_FALSE(knows(KeyRegistry{}, "any")); }

TEST(KeyRegistry, ChangesAddReplaceAndTakeAway) {
    auto registry = configured();
    registry.replace_stored(set_of({key("a"), key("b")}));
    ASSERT_TRUE(registry.change_stored(set_of({key("c"), revoked("a")})));
    EXPECT_FALSE(knows(registry, "a"));
    EXPECT_TRUE(knows(registry, "b"));
    EXPECT_TRUE(knows(registry, "c"));
    ASSERT_TRUE(registry.change_stored(set_of({revoked("c")})));
    EXPECT_FALSE(knows(registry, "c"));
    EXPECT_FALSE(knows(registry, "a")) << "an earlier change stays";
}

TEST(KeyRegistry, ManyChangesAreMergedAndTheDeadAreForgotten) {
    auto registry = configured({key("file")});
    registry.replace_stored(set_of(numbered(0, 100)));
    ASSERT_TRUE(registry.change_stored(set_of(numbered(0, 50, true))));
    EXPECT_EQ(registry.stored_keys(), 150U) << "few changes lie over the others";
    ASSERT_TRUE(registry.change_stored(set_of(numbered(100, 1000))));
    EXPECT_EQ(registry.stored_keys(), 1050U) << "merged";
    for (const auto& [name, expected] : std::vector<std::pair<std::string, bool>>{
             {"0", false}, {"49", false}, {"50", true}, {"99", true}, {"100", true}, {"1099", true}, {"file", true}})
        EXPECT_EQ(knows(registry, name), expected) << name;
}

TEST(KeyRegistry, AReloadBindsTheStoresKeysAnew) {
    auto registry = configured();
    auto other = key("other");
    other.tenant = "initech";
    registry.replace_stored(set_of({other, key("a")}));
    ASSERT_TRUE(registry.change_stored(set_of({key("b")})));
    EXPECT_FALSE(knows(registry, "other")) << "its tenant is not configured";
    registry.configure({}, [](const model::KeyScope& scope) {
        return Binding{.tenant = scope.tenant == "initech" ? 3U : Binding::no_tenant};
    });
    EXPECT_EQ(registry.table()->authenticate("sk-other", noon)->tenant, 3U);
    EXPECT_FALSE(knows(registry, "a"));
    EXPECT_FALSE(knows(registry, "b"));
    registry.configure({}, bind);
    EXPECT_TRUE(knows(registry, "a"));
    EXPECT_TRUE(knows(registry, "b"));
}

TEST(KeyRegistry, NamesEachUnusableScopeOnce) {
    auto registry = configured();
    auto lost = key("lost");
    lost.tenant = "left";
    auto lost_too = key("lost too");
    lost_too.tenant = "left";
    registry.replace_stored(set_of({lost, lost_too, key("fine")}));
    auto gone = revoked("gone");
    gone.tenant = "gone";
    ASSERT_TRUE(registry.change_stored(set_of({lost_too, gone})));
    const auto unusable = registry.unusable_scopes();
    ASSERT_EQ(unusable.size(), 1U);
    EXPECT_EQ(unusable.front().tenant, "left");
}

TEST(KeyRegistry, ATableThatIsReadStaysAndOneThatIsNotGoes) {
    auto registry = configured();
    registry.replace_stored(set_of({key("a")}));
    auto reader = registry.table();
    const std::weak_ptr<const KeyTable> watched = reader;
    ASSERT_TRUE(registry.change_stored(set_of({revoked("a")})));
    registry.free_unread();
    EXPECT_TRUE(reader->authenticate("sk-a", noon)) << "what was read goes on saying what it said";
    reader.reset();
    EXPECT_FALSE(watched.expired()) << "a reader never frees, only the registry does";
    registry.free_unread();
    EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace weir::auth
