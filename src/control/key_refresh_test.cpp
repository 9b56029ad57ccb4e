#include "control/key_refresh.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weir::control {
namespace {

using auth::Binding;

constexpr base::WallTime noon{std::chrono::sys_days{std::chrono::year{2027} / 6 / 30} + std::chrono::hours{12}};

// A store in memory; every test changes it and says what the refresh shall make of it.
struct FakeStore {
    struct Key {
        std::string name;
        std::string tenant = "acme";
        bool revoked = false;
        std::int64_t change = 0;
    };
    std::map<std::string, Key> keys;  // by name; the secret is "sk-" + name
    std::int64_t newest = 0;
    bool readable = true;
    bool replaced = false;  // said once, by version 0
    int failing_reads = 0;
    int opened = 0;
    std::vector<std::int64_t> reads;  // from which version

    void put(const std::string& name, bool revoked = false, const std::string& tenant = "acme") {
        keys[name] = {.name = name, .tenant = tenant, .revoked = revoked, .change = ++newest};
    }
};

class FakeFeed final : public ports::KeyFeed {
public:
    explicit FakeFeed(FakeStore& store) : store_{store} {}
    base::Result<std::int64_t> version() override {
        if (!store_.readable) return base::fail(base::ErrorCode::unavailable, "the store is away");
        return std::exchange(store_.replaced, false) ? 0 : store_.newest;
    }
    base::Result<std::int64_t> read(std::int64_t after, const std::function<void(const model::KeyRow&)>& row) override {
        if (!store_.readable) return base::fail(base::ErrorCode::unavailable, "the store is away");
        if (store_.failing_reads > 0) {
            --store_.failing_reads;
            return base::fail(base::ErrorCode::unavailable, "the store is locked");
        }
        store_.reads.push_back(after);
        for (const auto& [name, key] : store_.keys)
            if (key.change > after && !(after == 0 && key.revoked))
                row({.digest = base::sha256("sk-" + name),
                     .name = name,
                     .scope = {.tenant = key.tenant},
                     .revoked = key.revoked});
        return store_.newest;
    }

private:
    FakeStore& store_;
};

auth::Binder knows(std::vector<std::string> tenants) {
    return [tenants = std::move(tenants)](const model::KeyScope& scope) {
        for (std::uint32_t i = 0; i < tenants.size(); ++i)
            if (tenants[i] == scope.tenant) return Binding{.tenant = i};
        return Binding{};
    };
}

auth::KeySet file_keys(const std::string& name) {
    auth::KeySetBuilder builder;
    const auto secret = "sk-" + name;
    builder.add({.digest = base::sha256(secret), .name = name, .scope = {.tenant = "acme"}});
    return *std::move(builder).build();
}

class KeyRefreshTest : public testing::Test {
protected:
    void start() {
        auto loaded = refresh_.load(file_keys("file"), knows({"acme"}));
        ASSERT_TRUE(loaded);
        table_ = *std::move(loaded);
        refresh_.publish_to([this](auth::KeyRegistry::Table table) {
            table_ = std::move(table);
            ++published_;
        });
    }
    [[nodiscard]] bool valid(const std::string& name) const {
        return table_->authenticate("sk-" + name, noon).has_value();
    }
    FakeStore store_;
    std::vector<std::string> reports_;
    auth::KeyRegistry::Table table_;
    int published_ = 0;
    KeyRefresh refresh_{{.open_feed = [this]() -> base::Result<std::unique_ptr<ports::KeyFeed>> {
                             ++store_.opened;
                             if (!store_.readable) return base::fail(base::ErrorCode::unavailable, "cannot be opened");
                             return std::make_unique<FakeFeed>(store_);
                         },
                         .report = [this](std::string_view text) { reports_.emplace_back(text); }}};
};

TEST_F(KeyRefreshTest, LoadsBothKindsOfKeysAtTheStart) {
    store_.put("stored");
    start();
    EXPECT_TRUE(valid("file"));
    EXPECT_TRUE(valid("stored"));
    EXPECT_EQ(store_.opened, 1);
}

TEST_F(KeyRefreshTest, AStoreThatCannotBeReadAtTheStartIsAnError) {
    store_.readable = false;
    EXPECT_FALSE(refresh_.load(file_keys("file"), knows({"acme"})));
}

TEST_F(KeyRefreshTest, AnotherStoreIsReadFromItsBeginningEvenIfItCannotBeReadAtOnce) {
    for (const int changes : {1, 2, 3}) {  // fewer than the store before, as many, more
        for (const int failing_reads : {0, 1}) {
            store_ = {.replaced = true};
            store_.put("old");
            store_.put("older");
            if (table_ == nullptr) start();
            refresh_.refresh();
            refresh_.refresh();
            ASSERT_TRUE(valid("old"));
            store_ = {.replaced = true, .failing_reads = failing_reads};
            for (int change = 0; change < changes; ++change)
                store_.put("new");
            for (int look = 0; look < 3; ++look)
                refresh_.refresh();
            EXPECT_TRUE(valid("new")) << changes << ' ' << failing_reads;
            EXPECT_FALSE(valid("old")) << changes << ' ' << failing_reads;
        }
    }
}

TEST_F(KeyRefreshTest, PublishesWhatChangedAndReadsOnlyThat) {
    store_.put("a");
    start();
    refresh_.refresh();
    EXPECT_EQ(published_, 0) << "nothing has changed";
    store_.put("b");
    refresh_.refresh();
    EXPECT_EQ(published_, 1);
    EXPECT_TRUE(valid("b"));
    store_.put("a", true);
    refresh_.refresh();
    EXPECT_FALSE(valid("a"));
    EXPECT_TRUE(valid("b"));
    EXPECT_EQ(store_.reads, (std::vector<std::int64_t>{0, 1, 2}));
}

TEST_F(KeyRefreshTest, TheFirstKeyOfAnEmptyStoreArrives) {
    start();
    store_.put("a");
    refresh_.refresh();
    EXPECT_TRUE(valid("a"));
    EXPECT_TRUE(valid("file"));
}

TEST_F(KeyRefreshTest, KeepsTheLastKeysWhileTheStoreIsAwayAndSaysSoOnce) {
    store_.put("a");
    start();
    store_.readable = false;
    store_.put("a", true);
    for (int i = 0; i < 3; ++i)
        refresh_.refresh();
    EXPECT_TRUE(valid("a"));
    ASSERT_EQ(reports_.size(), 1U);
    EXPECT_NE(reports_[0].find("the store is away"), std::string::npos) << reports_[0];
    EXPECT_NE(reports_[0].find("1 stored keys"), std::string::npos) << reports_[0];
    store_.readable = true;
    refresh_.refresh();
    EXPECT_FALSE(valid("a"));
    ASSERT_EQ(reports_.size(), 2U);
    EXPECT_NE(reports_[1].find("can be read again"), std::string::npos) << reports_[1];
    EXPECT_EQ(store_.opened, 1);
}

TEST_F(KeyRefreshTest, AnOlderCopyOfTheStoreIsReadWhole) {
    store_.put("kept");
    store_.put("lost");
    start();
    EXPECT_TRUE(valid("lost"));
    store_.keys.erase("lost");
    store_.newest = 1;
    refresh_.refresh();
    EXPECT_FALSE(valid("lost"));
    EXPECT_TRUE(valid("kept"));
    store_.put("next");
    refresh_.refresh();
    EXPECT_TRUE(valid("next"));
}

TEST_F(KeyRefreshTest, AReloadGoesOutWithItsKeysAndTheStoresStay) {
    store_.put("a");
    start();
    auth::KeyRegistry::Table reloaded;
    refresh_.reconfigure(file_keys("new"), knows({"globex", "acme"}),
                         [&](auth::KeyRegistry::Table table) { reloaded = std::move(table); });
    EXPECT_EQ(published_, 0) << "not the usual way";
    ASSERT_TRUE(reloaded);
    EXPECT_FALSE(reloaded->authenticate("sk-file", noon));
    EXPECT_TRUE(reloaded->authenticate("sk-new", noon));
    EXPECT_EQ(reloaded->authenticate("sk-a", noon)->tenant, 1U) << "an index into the new configuration";
    store_.put("b");
    refresh_.refresh();
    EXPECT_EQ(table_->authenticate("sk-b", noon)->tenant, 1U);
}

TEST_F(KeyRefreshTest, WarnsOfKeysThatTheConfigurationDoesNotKnowOnce) {
    store_.put("lost", false, "left");
    start();
    EXPECT_FALSE(valid("lost"));
    ASSERT_EQ(reports_.size(), 1U);
    EXPECT_NE(reports_[0].find("tenant left"), std::string::npos) << reports_[0];
    store_.put("more");
    refresh_.refresh();
    EXPECT_EQ(reports_.size(), 1U);
    refresh_.reconfigure(file_keys("file"), knows({}), [](const auth::KeyRegistry::Table&) {});
    EXPECT_EQ(reports_.size(), 3U) << "acme's are useless now too";
}

TEST_F(KeyRefreshTest, OfManyUnknownTenantsAFewAreNamed) {
    for (int i = 0; i < 100; ++i)
        store_.put("key" + std::to_string(i), false, "left" + std::to_string(i));
    start();
    EXPECT_EQ(reports_.size(), 11U);
    EXPECT_NE(reports_.back().find("90 more"), std::string::npos) << reports_.back();
}

// Another change at each look.
class RestlessFeed final : public ports::KeyFeed {
public:
    base::Result<std::int64_t> version() override { return ++version_; }
    base::Result<std::int64_t> read(std::int64_t, const std::function<void(const model::KeyRow&)>& row) override {
        const auto name = std::to_string(version_ % 10);
        row({.digest = base::sha256("sk-" + name),
             .name = name,
             .scope = {.tenant = "acme"},
             .revoked = version_ % 3 == 0});
        return version_;
    }

private:
    std::int64_t version_ = 0;
};

// For ThreadSanitizer too: refreshes, reloads and readers at once; each table fits the configuration that is in force.
TEST(KeyRefreshThreads, ATableNeverFitsAnotherConfigurationThanTheOneInForce) {
    constexpr int rounds = 200;
    KeyRefresh refresh{
        {.open_feed = [] { return base::Result<std::unique_ptr<ports::KeyFeed>>{std::make_unique<RestlessFeed>()}; },
         .report = [](std::string_view) {}}};
    const auto binder = [](std::uint32_t tenant) {
        return [tenant](const model::KeyScope&) { return Binding{.tenant = tenant}; };
    };
    std::mutex mutex;
    auto published = refresh.load(file_keys("file"), binder(0)).value();
    std::uint32_t in_force = 0;  // both written while KeyRefresh publishes, so by one thread at a time
    int misfits = 0;
    const auto publish = [&](auth::KeyRegistry::Table table) {
        const std::scoped_lock lock{mutex};
        published = std::move(table);
        const auto entry = published->authenticate("sk-file", noon);
        if (!entry || entry->tenant != in_force) ++misfits;
    };
    refresh.publish_to(publish);
    std::atomic<bool> done{false};
    {
        const std::jthread reader{[&] {
            while (!done) {
                const auto table = [&] {
                    const std::scoped_lock lock{mutex};
                    return published;
                }();
                for (int i = 0; i < 10; ++i)
                    static_cast<void>(table->authenticate("sk-" + std::to_string(i), noon));
            }
        }};
        const std::jthread reloads{[&] {
            for (std::uint32_t i = 1; i <= rounds; ++i)
                refresh.reconfigure(file_keys("file"), binder(i), [&, i](auth::KeyRegistry::Table table) {
                    in_force = i;
                    publish(std::move(table));
                });
        }};
        for (int i = 0; i < rounds; ++i)
            refresh.refresh();
        done = true;
    }
    EXPECT_EQ(misfits, 0);
}

}  // namespace
}  // namespace weir::control
