#include "auth/key_set.h"

#include "auth/test_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace weir::auth {
namespace {

using namespace std::chrono_literals;
using test::Key;
using test::noon;
using test::set_of;

std::string name_in(const KeySet& set, const base::Sha256Digest& digest) {
    const auto* found = set.find(digest);
    return found == nullptr ? "" : std::string{set.name_of(*found)};
}

std::string name_in(const KeySet& set, std::string_view secret) { return name_in(set, base::sha256(secret)); }

// Digests that agree in the bytes that place them or in all but the last are still different keys.
TEST(KeySet, CollidingDigestsAreToldApart) {
    const Key target{.name = "target", .secret = "sk-target"};
    const auto digest = target.row().digest;
    KeySetBuilder builder;
    builder.add(target.row());
    for (const std::size_t byte : {8U, 9U, 16U, 31U}) {
        const Key near{.name = "byte " + std::to_string(byte), .secret = ""};
        auto row = near.row();
        row.digest = digest;
        row.digest[byte] ^= 0x01U;
        builder.add(row);
    }
    const auto set = std::move(builder).build();
    ASSERT_TRUE(set);
    EXPECT_EQ(name_in(*set, digest), "target");
    for (const std::size_t byte : {8U, 9U, 16U, 31U}) {
        auto near = digest;
        near[byte] ^= 0x01U;
        EXPECT_EQ(name_in(*set, near), "byte " + std::to_string(byte));
    }
    auto unknown = digest;
    unknown[20] ^= 0x80U;
    EXPECT_EQ(set->find(unknown), nullptr);
}

// Each size around the powers of two, where the number of buckets changes.
TEST(KeySet, FindsAllAndNothingElseAtEverySize) {
    std::vector<Key> keys;
    for (int size = 0; size <= 70; ++size) {
        const KeySet set = set_of(keys);
        ASSERT_EQ(set.size(), keys.size());
        for (const auto& key : keys)
            ASSERT_EQ(name_in(set, key.secret), key.name) << size;
        for (int i = 0; i < 50; ++i)
            ASSERT_EQ(set.find(base::sha256("other" + std::to_string(i))), nullptr) << size;
        keys.push_back({.name = "key" + std::to_string(size), .secret = std::to_string(size)});
    }
}

TEST(KeySet, OfTwoRowsWithOneDigestTheLaterOneCounts) {
    const KeySet set =
        set_of({{.name = "first", .secret = "a"}, {.name = "x", .secret = "b"}, {.name = "last", .secret = "a"}});
    EXPECT_EQ(set.size(), 2U);
    EXPECT_EQ(name_in(set, "a"), "last");
}

TEST(KeySet, AScopeIsKeptOnceForAllItsKeys) {
    const KeySet set = set_of({{.name = "1", .secret = "1"},
                               {.name = "2", .secret = "2", .tenant = "globex"},
                               {.name = "3", .secret = "3"},
                               {.name = "4", .secret = "4", .team = "a", .application = "b"},
                               {.name = "5", .secret = "5", .team = "ab"},
                               {.name = "6", .secret = "6", .team = "a", .application = "b"}});
    EXPECT_EQ(set.scopes().size(), 4U);
}

TEST(KeySet, OfARevokedKeyOnlyTheDigestIsKept) {
    const KeySet set = set_of({{.name = "gone", .secret = "gone", .tenant = "left", .revoked = true}});
    const auto* record = set.find(base::sha256("gone"));
    ASSERT_NE(record, nullptr);
    EXPECT_FALSE(record->alive(noon));
    EXPECT_FALSE(record->alive(base::WallTime{}));
    EXPECT_EQ(set.name_of(*record), "");
}

struct ExpiryCase {
    std::string name;
    std::optional<base::WallTime> expires;
    base::WallTime now;
    bool alive;
};

TEST(KeySet, ExpiresInWholeSecondsRoundedDown) {
    const base::WallTime epoch{};
    for (const auto& each : std::vector<ExpiryCase>{
             {"never", std::nullopt, base::WallTime::max(), true},
             {"a moment before", noon, noon - 1ns, true},
             {"at the moment", noon, noon, false},
             {"rounded down", noon + 900ms, noon, false},
             {"before 1970", epoch - 24h, epoch, false},
             {"in 1970", epoch + 1s, epoch, true},
             {"after 2106 is after 2100", base::WallTime{std::chrono::sys_days{std::chrono::year{2200} / 1 / 1}},
              base::WallTime{std::chrono::sys_days{std::chrono::year{2100} / 1 / 1}}, true},
         }) {
        const KeySet set = set_of({{.name = "key", .secret = "sk", .expires = each.expires}});
        EXPECT_EQ(set.find(base::sha256("sk"))->alive(each.now), each.alive) << each.name;
    }
}

TEST(KeySet, ANameThatIsTooLongIsCut) {
    const KeySet set = set_of({{.name = std::string(300, 'n'), .secret = "a"}, {.name = "next", .secret = "b"}});
    EXPECT_EQ(name_in(set, "a"), std::string(255, 'n'));
    EXPECT_EQ(name_in(set, "b"), "next");
}

TEST(KeySet, MergingTakesTheNewerAndDropsTheDead) {
    const KeySet older = set_of({{.name = "stays", .secret = "stays"},
                                 {.name = "old", .secret = "changes", .team = "before"},
                                 {.name = "goes", .secret = "goes"}});
    const KeySet newer = set_of({{.name = "new", .secret = "changes", .team = "after"},
                                 {.name = "", .secret = "goes", .revoked = true},
                                 {.name = "", .secret = "never was", .revoked = true},
                                 {.name = "comes", .secret = "comes", .tenant = "globex"}});
    const auto merged = merge(older, newer);
    ASSERT_TRUE(merged);
    EXPECT_EQ(merged->size(), 3U);
    EXPECT_EQ(name_in(*merged, "stays"), "stays");
    EXPECT_EQ(name_in(*merged, "changes"), "new");
    EXPECT_EQ(merged->scopes()[merged->find(base::sha256("changes"))->scope].team, "after");
    EXPECT_EQ(merged->scopes()[merged->find(base::sha256("comes"))->scope].tenant, "globex");
    EXPECT_EQ(name_in(*merged, "goes"), "");
    const auto kept = overlay(older, newer);
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->size(), 5U);
    ASSERT_NE(kept->find(base::sha256("goes")), nullptr);
    EXPECT_FALSE(kept->find(base::sha256("goes"))->alive(noon));
}

TEST(KeySet, MergesManyInOrder) {
    std::vector<Key> even;
    std::vector<Key> odd;
    for (int i = 0; i < 2000; ++i)
        (i % 2 == 0 ? even : odd).push_back({.name = std::to_string(i), .secret = std::to_string(i)});
    const auto merged = merge(set_of(even), set_of(odd));
    ASSERT_TRUE(merged);
    EXPECT_EQ(merged->size(), 2000U);
    EXPECT_TRUE(std::ranges::is_sorted(merged->records(), {}, &KeyRecord::digest));
    for (int i = 0; i < 2000; ++i)
        ASSERT_EQ(name_in(*merged, std::to_string(i)), std::to_string(i));
}

TEST(KeySet, CountsItsMemory) {
    std::vector<Key> keys;
    for (int i = 0; i < 4096; ++i)
        keys.push_back({.name = "key-" + std::to_string(10000 + i), .secret = std::to_string(i)});
    const KeySet set = set_of(keys);
    EXPECT_GT(set.bytes(), 4096U * (48 + 10));
    EXPECT_LT(set.bytes(), 4096U * (48 + 10 + 4));
}

}  // namespace
}  // namespace weir::auth
