#include "cli/key_request.h"

#include "cli/key_report.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::cli {
namespace {

using namespace std::chrono_literals;
using base::WallTime;
using ports::StoredKey;

constexpr WallTime noon{std::chrono::sys_days{std::chrono::year{2027} / 6 / 30} + 12h};
constexpr std::chrono::sys_days today{std::chrono::year{2027} / 6 / 30};

struct TimeCase {
    std::string text;
    std::optional<WallTime> expected;  // nullopt = refused
};

TEST(KeyRequest, AnExpiryIsADayOrADuration) {
    for (const auto& each : std::vector<TimeCase>{
             {"2027-06-30", WallTime{today + std::chrono::days{1}}},
             {"2027-07-01", WallTime{today + std::chrono::days{2}}},
             {"90d", noon + 90 * 24h},
             {"1s", noon + 1s},
             {"1500ms", noon + 2s},
             {"2027-06-29", std::nullopt},
             {"2027-02-30", std::nullopt},
             {"2099-12-31", WallTime{std::chrono::sys_days{std::chrono::year{2100} / 1 / 1}}},
             {"2100-01-01", std::nullopt},
             {"30000d", std::nullopt},
             {"0s", std::nullopt},
             {"-1d", std::nullopt},
             {"90", std::nullopt},
             {"tomorrow", std::nullopt},
             {"", std::nullopt},
         }) {
        const auto parsed = parse_expiry(each.text, noon);
        EXPECT_EQ(parsed.has_value(), each.expected.has_value()) << each.text;
        if (parsed && each.expected) EXPECT_EQ(*parsed, *each.expected) << each.text;
    }
}

TEST(KeyRequest, AGraceIsADurationOfAtMostAYear) {
    const auto now = noon + 300ms;
    for (const auto& each : std::vector<TimeCase>{
             {"24h", noon + 24h + 1s},
             {"0s", noon},
             {"1ms", noon + 1s},
             {"366d", noon + 366 * 24h + 1s},
             {"367d", std::nullopt},
             {"-1s", std::nullopt},
             {"never", std::nullopt},
         }) {
        const auto parsed = parse_grace(each.text, now);
        EXPECT_EQ(parsed.has_value(), each.expected.has_value()) << each.text;
        if (parsed && each.expected) EXPECT_EQ(*parsed, *each.expected) << each.text;
    }
}

KeyOptions options(const std::string& name = "new", const std::string& tenant = "acme") {
    KeyOptions made;
    made.action = KeyAction::create;
    made.name = name;
    made.tenant = tenant;
    return made;
}

struct OptionCase {
    std::string name;
    std::function<void(KeyOptions&)> change;
    std::string says;  // "" = accepted
};

TEST(KeyRequest, ChecksEachOption) {
    for (const auto& each : std::vector<OptionCase>{
             {"plain", [](KeyOptions&) {}, ""},
             {"whole",
              [](KeyOptions& o) {
                  o.team = "search";
                  o.application = "box";
                  o.workload = "code";
                  o.permissions = {"debug", "cohort"};
                  o.expires = "1d";
              },
              ""},
             {"longest name", [](KeyOptions& o) { o.name = std::string(128, 'n'); }, ""},
             {"too long a name", [](KeyOptions& o) { o.name = std::string(129, 'n'); }, "--name"},
             {"an empty name", [](KeyOptions& o) { o.name = ""; }, "--name"},
             {"a line end", [](KeyOptions& o) { o.name = "a\nb"; }, "--name 'a?b'"},
             {"a NUL byte", [](KeyOptions& o) { o.name = std::string{"a\0b", 3}; }, "--name 'a?b'"},
             {"no ASCII", [](KeyOptions& o) { o.name = "\xC3\xA9"; }, "--name"},
             {"an option", [](KeyOptions& o) { o.name = "-x"; }, "--name"},
             {"an id", [](KeyOptions& o) { o.name = "k_0123456789abcdef"; }, "id"},
             {"an empty tenant", [](KeyOptions& o) { o.tenant = ""; }, "--tenant"},
             {"a bad tenant", [](KeyOptions& o) { o.tenant = "a b"; }, "--tenant"},
             {"a bad team", [](KeyOptions& o) { o.team = "a\x1b"; }, "--team"},
             {"a bad workload", [](KeyOptions& o) { o.workload = "{}"; }, "--workload"},
             {"an application alone", [](KeyOptions& o) { o.application = "box"; }, "--team"},
             {"a permission that is none", [](KeyOptions& o) { o.permissions = {"debug", "root"}; },
              "--permission 'root'"},
             {"a time that is none", [](KeyOptions& o) { o.expires = "soon"; }, "--expires 'soon'"},
         }) {
        auto asked = options();
        each.change(asked);
        const auto key = new_key_of(asked, noon);
        EXPECT_EQ(key.has_value(), each.says.empty()) << each.name << (key ? "" : ": " + key.error().message());
        if (key) continue;
        EXPECT_EQ(key.error().code(), base::ErrorCode::invalid_argument) << each.name;
        EXPECT_NE(key.error().message().find(each.says), std::string::npos) << key.error().message();
    }
}

constexpr auto document = R"(version: 1
server: {listen: "127.0.0.1:0"}
tenants:
  acme:
    teams: {search: {applications: {box: {}, shelf: {}}}}
    keys: [{name: taken, sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}]
  globex: {}
)";

struct FaultCase {
    std::string tenant;
    std::string team;
    std::string application;
    std::string name;
    std::string expected;  // "" = none
};

TEST(KeyRequest, ComparesWithTheConfiguration) {
    const auto config = config::parse(document, "test.yaml", config::Environment::none());
    ASSERT_TRUE(config);
    for (const auto& each : std::vector<FaultCase>{
             {"acme", "", "", "new", ""},
             {"acme", "search", "", "new", ""},
             {"acme", "search", "box", "new", ""},
             {"globex", "", "", "taken", ""},
             {"acme", "", "", "taken", "the tenant acme has a key taken already, in the configuration"},
             {"acne", "", "", "new", "there is no tenant 'acne'; did you mean acme?"},
             {"initech", "", "", "new", "there is no tenant 'initech'"},
             {"acme", "serach", "", "new", "the tenant acme has no team 'serach'; did you mean search?"},
             {"globex", "search", "", "new", "the tenant globex has no team 'search'"},
             {"acme", "search", "shelv", "new", "the team search has no application 'shelv'; did you mean shelf?"},
         }) {
        auto asked = options(each.name, each.tenant);
        asked.team = each.team;
        asked.application = each.application;
        EXPECT_EQ(fault_in(*new_key_of(asked, noon), *config), each.expected);
    }
}

StoredKey stored(const std::string& id, const std::string& tenant, ports::KeyState state) {
    StoredKey key{.id = id, .tenant = tenant, .name = "same"};
    if (state == ports::KeyState::revoked) key.revoked = noon;
    if (state == ports::KeyState::expired) key.expires = noon;
    return key;
}

struct PickCase {
    std::string name;
    std::vector<StoredKey> keys;
    std::string expected;  // its id, or a part of the refusal
};

TEST(KeyRequest, PicksTheKeyThatIsMeant) {
    using enum ports::KeyState;
    for (const auto& each : std::vector<PickCase>{
             {"none", {}, "no such key"},
             {"one", {stored("a", "acme", active)}, "a"},
             {"a living one before the others",
              {stored("a", "acme", revoked), stored("b", "acme", expired), stored("c", "acme", active)},
              "c"},
             {"in any order", {stored("c", "acme", active), stored("a", "acme", revoked)}, "c"},
             {"of one tenant the newest", {stored("a", "acme", revoked), stored("b", "acme", revoked)}, "b"},
             {"another tenant's revoked one does not matter",
              {stored("a", "acme", active), stored("b", "globex", revoked)},
              "a"},
             {"all revoked is one answer", {stored("a", "acme", revoked), stored("b", "globex", revoked)}, "b"},
             {"two tenants", {stored("a", "acme", active), stored("b", "globex", active)}, "acme (a), globex (b)"},
             {"two tenants, expired", {stored("a", "acme", expired), stored("b", "globex", expired)}, "--tenant"},
             {"two tenants, then a living one",
              {stored("a", "acme", expired), stored("b", "globex", expired), stored("c", "initech", active)},
              "c"},
         }) {
        const auto picked = pick_key(each.keys, noon);
        if (picked)
            EXPECT_EQ(picked->id, each.expected) << each.name;
        else
            EXPECT_NE(picked.error().message().find(each.expected), std::string::npos)
                << each.name << ": " << picked.error().message();
    }
}

TEST(KeyReport, ATableObeysNoControlCharacter) {
    auto key = stored("k_1", "acme", ports::KeyState::active);
    key.name = "a\x1b[31m\nb";
    const auto table = key_table(std::vector{key}, noon);
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2);
    EXPECT_EQ(table.find('\x1b'), std::string::npos);
    EXPECT_NE(table.find("a?[31m?b"), std::string::npos);
}

TEST(KeyReport, WhatAKeyDoesNotHaveIsAbsent) {
    base::JsonWriter json;
    json.begin_object();
    write_key_members(json, stored("k_1", "acme", ports::KeyState::active), noon);
    json.end_object();
    EXPECT_EQ(std::move(json).take(), R"({"id":"k_1","name":"same","tenant":"acme","permissions":[],"state":"active",)"
                                      R"("created":"1970-01-01T00:00:00Z","changed":"1970-01-01T00:00:00Z"})");
}

TEST(KeyReport, AGraceIsToldWhileItRuns) {
    auto key = stored("k_1", "acme", ports::KeyState::active);
    key.previous_until = noon;
    for (const auto& [now, told] : {std::pair{noon - 1s, true}, std::pair{noon, false}}) {
        base::JsonWriter json;
        json.begin_object();
        write_key_members(json, key, now);
        json.end_object();
        EXPECT_EQ(json.text().find("previous_until") != std::string::npos, told);
    }
}

}  // namespace
}  // namespace weir::cli
