#include "store/sqlite_key_store.h"

#include "store/key_columns.h"
#include "store/migrations.h"
#include "store/sqlite_key_feed.h"
#include "store/sqlite_store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace weir::store {
namespace {

using namespace std::chrono_literals;
using ports::KeyState;
using ports::NewKey;
using ports::StoredKey;

constexpr base::WallTime noon{std::chrono::sys_days{std::chrono::year{2027} / 6 / 30} + 12h};

NewKey key(const std::string& name, const std::string& tenant = "acme") {
    return {.id = "k_" + tenant + "_" + name,
            .tenant = tenant,
            .name = name,
            .digest = base::sha256("sk-" + tenant + name),
            .created = noon};
}

struct Row {
    std::string name;
    std::string tenant;
    std::string team;
    std::string application;
    std::string workload;
    model::PermissionSet permissions;
    std::optional<base::WallTime> expires;
    bool revoked = false;
};

class SqliteKeyStoreTest : public testing::Test {
protected:
    SqliteKeyStoreTest() {
        std::string path = (std::filesystem::temp_directory_path() / "weir-keys-XXXXXX").string();
        directory_ = ::mkdtemp(path.data());
        store_ = open();
    }
    ~SqliteKeyStoreTest() override {
        store_.reset();
        std::filesystem::remove_all(directory_);
    }
    [[nodiscard]] std::string path() const { return directory_ / "weir.db"; }
    [[nodiscard]] std::unique_ptr<SqliteKeyStore> open() const {
        auto store = SqliteKeyStore::open(path(), {.busy_timeout = 20ms});
        EXPECT_TRUE(store) << (store ? "" : store.error().message());
        return store ? *std::move(store) : nullptr;
    }
    [[nodiscard]] std::unique_ptr<SqliteKeyFeed> feed() const {
        auto opened = SqliteKeyFeed::open(path(), {.busy_timeout = 20ms});
        EXPECT_TRUE(opened) << (opened ? "" : opened.error().message());
        return opened ? *std::move(opened) : nullptr;
    }
    [[nodiscard]] std::vector<StoredKey> find(const ports::KeyFilter& filter = {}) const {
        std::vector<StoredKey> keys;
        EXPECT_TRUE(store_->find(filter, [&](const StoredKey& found) { keys.push_back(found); }));
        return keys;
    }
    static std::vector<Row> read(SqliteKeyFeed& from, std::int64_t after, std::int64_t expected_version) {
        std::vector<Row> rows;
        const auto version = from.read(after, [&](const model::KeyRow& row) {
            rows.push_back({.name = std::string{row.name},
                            .tenant = std::string{row.scope.tenant},
                            .team = std::string{row.scope.team},
                            .application = std::string{row.scope.application},
                            .workload = std::string{row.scope.workload},
                            .permissions = row.permissions,
                            .expires = row.expires,
                            .revoked = row.revoked});
        });
        EXPECT_TRUE(version);
        EXPECT_EQ(version.value_or(-1), expected_version);
        return rows;
    }
    std::filesystem::path directory_;
    std::unique_ptr<SqliteKeyStore> store_;
};

TEST_F(SqliteKeyStoreTest, GivesAKeyBackAsItWasMade) {
    auto full = key("full");
    full.team = "search";
    full.application = "box";
    full.workload = "code";
    full.permissions.add(model::Permission::debug);
    full.permissions.add(model::Permission::cohort);
    full.expires = noon + 24h;
    ASSERT_TRUE(store_->create(full));
    const auto found = find();
    ASSERT_EQ(found.size(), 1U);
    const auto& back = found.front();
    EXPECT_EQ(back.id, full.id);
    EXPECT_EQ(back.tenant, "acme");
    EXPECT_EQ(back.name, "full");
    EXPECT_EQ(back.team, "search");
    EXPECT_EQ(back.application, "box");
    EXPECT_EQ(back.workload, "code");
    EXPECT_EQ(back.permissions, full.permissions);
    EXPECT_EQ(back.created, noon);
    EXPECT_EQ(back.changed, noon);
    EXPECT_EQ(back.expires, full.expires);
    EXPECT_FALSE(back.revoked);
    EXPECT_FALSE(back.previous_until);
}

TEST_F(SqliteKeyStoreTest, ALivingKeysNameIsTheOnlyOneOfItsTenant) {
    auto dated = key("dated");
    dated.expires = noon + 1h;
    ASSERT_TRUE(store_->create(key("a")));
    ASSERT_TRUE(store_->create(key("a", "globex"))) << "another tenant's";
    ASSERT_TRUE(store_->create(dated));
    auto twin = key("a");
    twin.id = "k_twin";
    twin.digest = base::sha256("other");
    const auto refused = store_->create(twin);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), base::ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().message().find("k_acme_a"), std::string::npos) << refused.error().message();
    EXPECT_EQ(find({.name = "a"}).size(), 2U);

    ASSERT_TRUE(store_->revoke("k_acme_a", noon));
    EXPECT_TRUE(store_->create(twin)) << "a revoked key gives its name free";

    auto next = key("dated");
    next.id = "k_next";
    next.digest = base::sha256("next");
    next.created = noon + 59min;
    EXPECT_FALSE(store_->create(next));
    next.created = noon + 1h;
    EXPECT_TRUE(store_->create(next)) << "and so does an expired one";
    const auto both = find({.name = "dated"});
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(state_of(both[0], noon + 1h), KeyState::expired);
    EXPECT_EQ(state_of(both[1], noon + 1h), KeyState::active);
}

TEST_F(SqliteKeyStoreTest, OneSecretBelongsToOneKeyAndAFailureLeavesNothing) {
    ASSERT_TRUE(store_->create(key("a")));
    auto thief = key("b");
    thief.digest = key("a").digest;
    EXPECT_FALSE(store_->create(thief));
    EXPECT_EQ(find().size(), 1U);
    EXPECT_EQ(feed()->version(), 1) << "a change that failed is none";
}

TEST_F(SqliteKeyStoreTest, RevokesOnceAndForAll) {
    ASSERT_TRUE(store_->create(key("a")));
    EXPECT_EQ(store_->revoke("k_acme_a", noon + 1min), true);
    EXPECT_EQ(store_->revoke("k_acme_a", noon + 2min), false);
    EXPECT_EQ(find().front().revoked, noon + 1min) << "the first time stays";
    const auto unknown = store_->revoke("k_nobody", noon);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code(), base::ErrorCode::not_found);
}

TEST_F(SqliteKeyStoreTest, RotatingEndsEveryOlderSecretInTimeAndNoneLater) {
    ASSERT_TRUE(store_->create(key("a")));
    const auto rotate = [&](const std::string& secret, base::WallTime now, base::WallTime until) {
        return store_->rotate({.id = "k_acme_a", .digest = base::sha256(secret), .now = now, .old_until = until});
    };
    ASSERT_TRUE(rotate("second", noon + 1h, noon + 25h));
    EXPECT_EQ(find().front().previous_until, noon + 25h);
    ASSERT_TRUE(rotate("third", noon + 2h, noon + 26h));
    const auto reader = feed();
    auto rows = read(*reader, 0, 3);
    std::multiset<std::optional<base::WallTime>> ends;
    for (const auto& row : rows)
        ends.insert(row.expires);
    EXPECT_EQ(ends, (std::multiset<std::optional<base::WallTime>>{std::nullopt, noon + 25h, noon + 26h}));
    ASSERT_TRUE(rotate("fourth", noon + 3h, noon + 3h));
    for (const auto& row : read(*reader, 3, 4))
        EXPECT_TRUE(!row.expires || *row.expires <= noon + 3h) << "all older ones end at once";
}

struct RotateCase {
    std::string name;
    std::string id;
    base::WallTime now;
    base::ErrorCode code;
    std::string says;
};

TEST_F(SqliteKeyStoreTest, WhatCannotBeRotatedStaysAsItIs) {
    auto dated = key("dated");
    dated.expires = noon + 1h;
    ASSERT_TRUE(store_->create(dated));
    ASSERT_TRUE(store_->create(key("gone")));
    ASSERT_TRUE(store_->revoke("k_acme_gone", noon));
    using base::ErrorCode;
    for (const auto& each : std::vector<RotateCase>{
             {"unknown", "k_nobody", noon, ErrorCode::not_found, "no key"},
             {"revoked", "k_acme_gone", noon, ErrorCode::invalid_argument, "revoked"},
             {"expired", "k_acme_dated", noon + 1h, ErrorCode::invalid_argument, "expired"},
         }) {
        const auto done =
            store_->rotate({.id = each.id, .digest = base::sha256("new"), .now = each.now, .old_until = each.now + 1h});
        ASSERT_FALSE(done) << each.name;
        EXPECT_EQ(done.error().code(), each.code) << each.name;
        EXPECT_NE(done.error().message().find(each.says), std::string::npos) << done.error().message();
    }
    EXPECT_EQ(feed()->version(), 3);
}

TEST_F(SqliteKeyStoreTest, FindsByAnyOfItsFilters) {
    auto boxed = key("boxed");
    boxed.team = "search";
    boxed.application = "box";
    ASSERT_TRUE(store_->create(boxed));
    ASSERT_TRUE(store_->create(key("a", "globex")));
    ASSERT_TRUE(store_->create(key("a")));
    const auto names = [&](const ports::KeyFilter& filter) {
        std::string text;
        for (const auto& found : find(filter))
            text += found.tenant + "/" + found.name + " ";
        return text;
    };
    EXPECT_EQ(names({}), "acme/a acme/boxed globex/a ");
    EXPECT_EQ(names({.name = "a"}), "acme/a globex/a ");
    EXPECT_EQ(names({.name = "a", .tenant = "globex"}), "globex/a ");
    EXPECT_EQ(names({.team = "search"}), "acme/boxed ");
    EXPECT_EQ(names({.application = "box"}), "acme/boxed ");
    EXPECT_EQ(names({.id = "k_acme_a"}), "acme/a ");
    EXPECT_EQ(names({.name = "' OR 1=1 --"}), "");
}

TEST_F(SqliteKeyStoreTest, TheFeedTellsWhatChangedAndAtFirstWhatMayWork) {
    const auto reader = feed();
    EXPECT_EQ(reader->version(), 0);
    EXPECT_TRUE(read(*reader, 0, 0).empty());
    auto full = key("full");
    full.team = "search";
    full.application = "box";
    full.workload = "code";
    full.permissions.add(model::Permission::priority);
    full.expires = noon + 1h;
    ASSERT_TRUE(store_->create(full));
    ASSERT_TRUE(store_->create(key("other")));
    EXPECT_EQ(reader->version(), 2);
    auto rows = read(*reader, 0, 2);
    ASSERT_EQ(rows.size(), 2U);
    rows = read(*reader, 1, 2);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.front().name, "other");
    ASSERT_TRUE(store_->revoke("k_acme_full", noon));
    rows = read(*reader, 2, 3);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_TRUE(rows.front().revoked);
    EXPECT_EQ(rows.front().name, "full");
    EXPECT_EQ(rows.front().team, "search");
    EXPECT_EQ(rows.front().application, "box");
    EXPECT_EQ(rows.front().workload, "code");
    EXPECT_EQ(rows.front().permissions, full.permissions);
    EXPECT_EQ(rows.front().expires, noon + 1h);
    EXPECT_EQ(read(*reader, 0, 3).size(), 1U) << "what is revoked is nobody's business at first";
}

TEST_F(SqliteKeyStoreTest, ALockedStoreIsSaidToBe) {
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &raw), SQLITE_OK);
    const Database rival{raw};
    ASSERT_TRUE(execute(raw, "BEGIN IMMEDIATE"));
    const auto refused = store_->create(key("a"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), base::ErrorCode::unavailable);
    EXPECT_NE(refused.error().message().find("locked by another process"), std::string::npos)
        << refused.error().message();
    EXPECT_NE(refused.error().message().find(path()), std::string::npos);
    EXPECT_EQ(feed()->version(), 0) << "readers do not care";
    ASSERT_TRUE(execute(raw, "ROLLBACK"));
    EXPECT_TRUE(store_->create(key("a")));
}

TEST_F(SqliteKeyStoreTest, WithoutAFileThereIsNoneUnlessItIsAskedFor) {
    const auto missing = (directory_ / "missing.db").string();
    const auto refused = SqliteKeyStore::open(missing, {.create = false});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), base::ErrorCode::not_found);
    EXPECT_FALSE(std::filesystem::exists(missing));
    EXPECT_FALSE(SqliteKeyFeed::open(missing));
    EXPECT_TRUE(SqliteKeyStore::open(missing, {}));
}

TEST_F(SqliteKeyStoreTest, AReplacedFileIsReadFromItsBeginning) {
    ASSERT_TRUE(store_->create(key("a")));
    const auto reader = feed();
    EXPECT_EQ(reader->version(), 1);
    const auto copy = (directory_ / "copy.db").string();
    ASSERT_TRUE((*SqliteKeyStore::open(copy, {}))->create(key("b")));
    for (const auto* suffix : {"", "-wal", "-shm"})
        std::filesystem::remove(path() + suffix);
    EXPECT_FALSE(reader->version()) << "it is gone";
    std::ofstream{path()};
    EXPECT_FALSE(reader->version()) << "a copy that has only begun";
    EXPECT_EQ(std::filesystem::file_size(path()), 0U);
    std::filesystem::rename(copy, path());
    EXPECT_EQ(reader->version(), 0) << "begin again";
    EXPECT_EQ(reader->version(), 1) << "its own number, which happens to be the same";
    std::vector<std::string> names;
    ASSERT_TRUE(reader->read(0, [&](const model::KeyRow& row) { names.emplace_back(row.name); }));
    EXPECT_EQ(names, std::vector<std::string>{"b"});
}

// Makes one key for each byte that it is sent, and says how it went. It is forked before this process has opened the
// store, for SQLite takes inherited connections for its own.
class OtherProcess {
public:
    explicit OtherProcess(const std::string& path) {
        if (::pipe(orders_.data()) != 0 || ::pipe(answers_.data()) != 0) return;
        child_ = ::fork();
        if (child_ != 0) {
            ::close(orders_[0]);
            ::close(answers_[1]);
            return;
        }
        ::close(orders_[1]);
        char order = 0;
        while (::read(orders_[0], &order, 1) == 1) {
            auto writer = SqliteKeyStore::open(path, {});
            const bool made = writer && (*writer)->create(key(std::string{order})).has_value();
            writer = {};
            if (::write(answers_[1], made ? "y" : "n", 1) != 1) break;
        }
        ::_exit(0);
    }
    OtherProcess(const OtherProcess&) = delete;
    OtherProcess& operator=(const OtherProcess&) = delete;
    ~OtherProcess() {
        ::close(orders_[1]);
        ::close(answers_[0]);
        ::waitpid(child_, nullptr, 0);
    }
    bool make_key(char name) {
        char answer = 0;
        return ::write(orders_[1], &name, 1) == 1 && ::read(answers_[0], &answer, 1) == 1 && answer == 'y';
    }

private:
    std::array<int, 2> orders_{};
    std::array<int, 2> answers_{};
    pid_t child_ = -1;
};

// What another process commits and closes must be seen by every connection of this one. A descriptor of the file that
// is opened and closed beside SQLite would end this process's locks, and the other one, as if it were the last, would
// take the log away.
TEST_F(SqliteKeyStoreTest, SeveralConnectionsOfOneProcessSeeWhatAnotherProcessDoes) {
    store_.reset();
    OtherProcess other{path()};
    const auto records = SqliteStore::open(path(), {.busy_timeout = 2000ms});
    ASSERT_TRUE(records);
    const auto reader = feed();
    for (int round = 1; round <= 3; ++round) {
        ASSERT_TRUE(other.make_key(static_cast<char>('0' + round)));
        EXPECT_EQ(reader->version(), round);
        EXPECT_EQ(read(*reader, round - 1, round).size(), 1U);
    }
}

TEST(KeyColumns, PermissionsAreWords) {
    model::PermissionSet all;
    for (const auto permission : model::all_permissions)
        all.add(permission);
    EXPECT_EQ(permissions_text({}), "");
    EXPECT_EQ(permissions_text(all), "debug,priority,workload,cohort");
    EXPECT_EQ(permissions_from("debug,priority,workload,cohort"), all);
    EXPECT_EQ(permissions_from(""), model::PermissionSet{});
    model::PermissionSet cohort;
    cohort.add(model::Permission::cohort);
    EXPECT_EQ(permissions_from("root,cohort,,DEBUG, debug"), cohort) << "an unknown word permits nothing";
}

TEST(Migrations, AreNumberedInOrderAndOnce) {
    int before = 0;
    for (const auto& step : migrations()) {
        EXPECT_GT(step.number, before);
        EXPECT_FALSE(step.sql.empty());
        before = step.number;
    }
}

}  // namespace
}  // namespace weir::store
