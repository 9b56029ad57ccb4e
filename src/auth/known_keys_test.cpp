#include "auth/known_keys.h"

#include "auth/test_keys.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::auth {
namespace {

using namespace std::chrono_literals;
using test::Key;
using test::noon;

std::shared_ptr<const KeyTable> table_of(const std::vector<Key>& keys) {
    return std::make_shared<const KeyTable>(KeyTable::Layers{test::layer_of(keys), KeyLayer{}, KeyLayer{}});
}

std::string caller_of(KnownKeys& known, const std::shared_ptr<const KeyTable>& table, std::string_view secret,
                      base::WallTime now = noon) {
    const auto entry = known.authenticate(table, secret, now);
    return std::string{entry ? entry->caller.key : ""};
}

TEST(KnownKeys, AnswersAsTheTableDoesTheFirstTimeAndEveryTime) {
    const auto table = table_of({{.name = "one", .secret = "sk-one"},
                                 {.name = "two", .secret = "sk-two"},
                                 {.name = "gone", .secret = "sk-gone", .revoked = true}});
    KnownKeys known;
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(caller_of(known, table, "sk-one"), "one");
        EXPECT_EQ(caller_of(known, table, "sk-two"), "two");
        for (const auto* secret : {"", "sk-on", "sk-onf", "sk-gone", "SK-ONE"})
            EXPECT_EQ(caller_of(known, table, secret), "") << secret;
    }
}

TEST(KnownKeys, AKeyThatIsKnownStillExpires) {
    const auto table = table_of({{.name = "one", .secret = "sk-one", .expires = noon + 10s}});
    KnownKeys known;
    EXPECT_EQ(caller_of(known, table, "sk-one", noon), "one");
    EXPECT_EQ(caller_of(known, table, "sk-one", noon + 9s), "one");
    EXPECT_EQ(caller_of(known, table, "sk-one", noon + 10s), "");
    EXPECT_EQ(caller_of(known, table, "sk-one", noon), "one") << "a clock that stepped back";
}

TEST(KnownKeys, ANewTableDecidesAnew) {
    KnownKeys known;
    EXPECT_EQ(caller_of(known, table_of({{.name = "one", .secret = "sk-one"}}), "sk-one"), "one");
    EXPECT_EQ(caller_of(known, table_of({{.name = "other", .secret = "sk-one"}}), "sk-one"), "other");
    EXPECT_EQ(caller_of(known, table_of({}), "sk-one"), "");
}

TEST(KnownKeys, ATableThatIsForgottenIsNotHeld) {
    auto table = table_of({{.name = "one", .secret = "sk-one"}});
    const std::weak_ptr<const KeyTable> watched = table;
    KnownKeys known;
    EXPECT_EQ(caller_of(known, table, "sk-one"), "one");
    known.forget();
    EXPECT_EQ(caller_of(known, table, "sk-one"), "one");
    known.forget();
    table.reset();
    EXPECT_TRUE(watched.expired());
}

TEST(KnownKeys, MoreCallersThanItRemembersAreStillFound) {
    std::vector<Key> keys;
    for (int i = 0; i < 3000; ++i)
        keys.push_back({.name = "key-" + std::to_string(i), .secret = "sk-" + std::to_string(i)});
    const auto table = table_of(keys);
    KnownKeys known;
    for (int round = 0; round < 2; ++round)
        for (const auto& key : keys)
            ASSERT_EQ(caller_of(known, table, key.secret), key.name);
}

}  // namespace
}  // namespace weir::auth
