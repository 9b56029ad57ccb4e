#include "auth/key_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace weir::auth {
namespace {

using namespace std::chrono_literals;

constexpr base::WallTime noon{std::chrono::sys_days{std::chrono::year{2027} / 6 / 30} + 12h};

Entry entry(const std::string& name, const std::string& secret) {
    Entry made;
    made.digest = base::sha256(secret);
    made.caller.tenant = "acme";
    made.caller.key = name;
    return made;
}

KeyTable table_of(std::vector<Entry> entries) {
    auto table = KeyTable::build(std::move(entries));
    EXPECT_TRUE(table.has_value()) << (table ? "" : table.error().message());
    return table ? std::move(*table) : KeyTable{};
}

TEST(KeyTable, FindsTheCallerOfASecret) {
    auto second = entry("two", "sk-two");
    second.tenant = 7;
    second.aliases = 9;
    const KeyTable table = table_of({entry("one", "sk-one"), second});
    const Entry* found = table.authenticate("sk-two", noon);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->caller.key, "two");
    EXPECT_EQ(found->tenant, 7U);
    EXPECT_EQ(found->aliases, 9U);
}

TEST(KeyTable, AllFailuresAreTheSameAnswer) {
    auto expired = entry("old", "sk-old");
    expired.expires = noon - 1s;
    const KeyTable table = table_of({entry("one", "sk-one"), expired});
    for (const std::string_view secret : {"", "sk-unknown", "sk-one ", "sk-on", "SK-ONE", "sk-old"})
        EXPECT_EQ(table.authenticate(secret, noon), nullptr) << secret;
    EXPECT_EQ(table.authenticate(base::to_hex(base::sha256("sk-one")), noon), nullptr) << "a digest is no secret";
}

TEST(KeyTable, AKeyWorksUntilTheMomentItExpires) {
    auto dated = entry("dated", "sk-dated");
    dated.expires = noon;
    const KeyTable table = table_of({dated});
    EXPECT_NE(table.authenticate("sk-dated", noon - 1ns), nullptr);
    EXPECT_EQ(table.authenticate("sk-dated", noon), nullptr);
    EXPECT_EQ(table.authenticate("sk-dated", noon + 1h), nullptr);
}

TEST(KeyTable, AnEmptyTableKnowsNobody) {
    EXPECT_EQ(KeyTable{}.authenticate("sk", noon), nullptr);
    EXPECT_EQ(table_of({}).authenticate("sk", noon), nullptr);
}

TEST(KeyTable, TwoKeysWithOneSecretAreRefusedAndNamed) {
    const auto table = KeyTable::build({entry("one", "same"), entry("two", "same")});
    ASSERT_FALSE(table.has_value());
    EXPECT_EQ(table.error().code(), base::ErrorCode::invalid_argument);
    EXPECT_NE(table.error().message().find("'one'"), std::string::npos) << table.error().message();
    EXPECT_NE(table.error().message().find("'two'"), std::string::npos) << table.error().message();
    EXPECT_EQ(table.error().message().find("same secret "), std::string::npos);
}

// Digests that agree in the bytes that place them (0..7) or in the tag too (0..11) are still different keys.
TEST(KeyTable, CollidingDigestsAreToldApart) {
    const auto target = entry("target", "sk-target");
    auto same_home = target;
    same_home.caller.key = "same home";
    same_home.digest[9] ^= 0xFFU;
    auto same_tag = target;
    same_tag.caller.key = "same tag";
    same_tag.digest[31] ^= 0x01U;
    const KeyTable table = table_of({same_home, same_tag, target});
    const Entry* found = table.authenticate("sk-target", noon);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->caller.key, "target");
    EXPECT_EQ(table_of({same_home, same_tag}).authenticate("sk-target", noon), nullptr);
}

TEST(KeyTable, EveryOneOfManyKeysIsFound) {
    std::vector<Entry> entries;
    entries.reserve(5000);
    for (int index = 0; index < 5000; ++index)
        entries.push_back(entry("key" + std::to_string(index), "sk-" + std::to_string(index)));
    const KeyTable table = table_of(std::move(entries));
    EXPECT_EQ(table.size(), 5000U);
    for (int index = 0; index < 5000; ++index) {
        const Entry* found = table.authenticate("sk-" + std::to_string(index), noon);
        ASSERT_NE(found, nullptr) << index;
        EXPECT_EQ(found->caller.key, "key" + std::to_string(index));
    }
    for (int index = 5000; index < 6000; ++index)
        EXPECT_EQ(table.authenticate("sk-" + std::to_string(index), noon), nullptr);
}

}  // namespace
}  // namespace weir::auth
