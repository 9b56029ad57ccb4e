#include "gateway/explain.h"

#include "gateway/test_fleet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <ostream>
#include <set>

namespace weir::gateway {
namespace {

using model::Feature;
using model::Ineligible;
using model::Reason;
using testing::Fleet;
using namespace std::chrono_literals;

const base::WallTime now{std::chrono::sys_days{std::chrono::year{2026} / 11 / 30}};

Question question(std::string_view more = "", std::string key = "") {
    Question asked{.body = R"({"model":"chat","messages":[{"role":"user","content":"Hi"}])", .key = std::move(key)};
    asked.body.append(more).append("}");
    return asked;
}

Question raw(std::string body) { return {.body = std::move(body)}; }

Explanation explained(const Tables& tables, const Question& asked = question(), bool live = false) {
    auto explanation = explain(tables, asked, {.now = now, .live = live});
    EXPECT_TRUE(explanation) << explanation.error().message();
    return *std::move(explanation);
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// One cause why `odd` cannot serve while `plain` can.
struct Cause {
    Ineligible reason{};
    std::function<void(Fleet&)> change = [](Fleet&) {};
    std::string_view body;
    std::string_view parameter{};
    std::string_view unhealthy{};  // the replica that a probe found so
    std::string_view no_source{};  // nothing in this version makes a pool so: the work that will
};
void PrintTo(const Cause& cause, std::ostream* out) { *out << name_of(cause.reason); }

void speculate(config::Pool& pool) {
    pool.speculation.method = config::SpeculationMethod::ngram;
    pool.speculation.lossless = config::Lossless::declared;
}

std::vector<Cause> causes() {
    using enum Ineligible;
    return {
        {.reason = alias_mismatch, .change = [](Fleet& fleet) { fleet.odd.family = "g"; }},
        {.reason = disabled, .no_source = "issue 4: weir pool through the admin API"},
        {.reason = endpoint_unsupported,
         .change = [](Fleet& fleet) { fleet.odd.capabilities.endpoints.emplace().add(model::Endpoint::embeddings); }},
        {.reason = streaming_unsupported,
         .change = [](Fleet& fleet) { fleet.odd.capabilities.streaming = false; },
         .body = R"(,"stream":true)"},
        {.reason = parameter_unsupported,
         .change = [](Fleet& fleet) { fleet.odd.capabilities.deny.add(Feature::min_p); },
         .body = R"(,"min_p":0.1)",
         .parameter = "min_p"},
        {.reason = parameter_unreliable,
         .change = [](Fleet& fleet) { fleet.plain.engine = config::Engine::vllm; },
         .body = R"(,"min_tokens":3)",
         .parameter = "min_tokens"},
        {.reason = context_exceeded,
         .change = [](Fleet& fleet) { fleet.odd.capabilities.context_tokens = 100; },
         .body = R"(,"max_tokens":500)"},
        {.reason = region_forbidden,
         .change =
             [](Fleet& fleet) {
                 fleet.odd.region = "us";
                 fleet.tenant.regions = {"eu"};
             }},
        {.reason = data_policy_forbidden,
         .change =
             [](Fleet& fleet) {
                 fleet.plain.provides = {"no-retention"};
                 fleet.tenant.requires_data_policies = {"no-retention"};
             }},
        {.reason = lossless_required,
         .change =
             [](Fleet& fleet) {
                 speculate(fleet.odd);
                 fleet.odd.speculation.lossless = config::Lossless::no;
                 fleet.alias.require_lossless = true;
             }},
        {.reason = unmeasured,
         .change =
             [](Fleet& fleet) {
                 speculate(fleet.odd);
                 fleet.odd_use.admitted = true;
                 fleet.alias.allow_unmeasured = false;
             }},
        {.reason = rollout_excluded, .change = [](Fleet& fleet) { speculate(fleet.odd); }},
        {.reason = engine_drifted, .no_source = "drift detection against profiles"},
        {.reason = unverified, .no_source = "verification of restarted speculative replicas"},
        {.reason = draining, .no_source = "issue 4: weir pool through the admin API"},
        {.reason = all_replicas_unhealthy, .unhealthy = "http://127.0.0.1:2"},
    };
}

TEST(Explain, EveryReasonHasACaseOrItsWorkIsNamed) {
    std::set<Ineligible> covered;
    for (const auto& cause : causes())
        EXPECT_TRUE(covered.insert(cause.reason).second) << "twice: " << name_of(cause.reason);
    for (int value = 0; value <= static_cast<int>(model::last_ineligible); ++value)
        EXPECT_TRUE(covered.contains(static_cast<Ineligible>(value))) << name_of(static_cast<Ineligible>(value));
}

class CauseTest : public ::testing::TestWithParam<Cause> {};

TEST_P(CauseTest, IsTheReasonOfItsPoolAndTheOtherServes) {
    const auto& cause = GetParam();
    Fleet fleet;
    cause.change(fleet);
    const auto tables = fleet.tables();
    for (const auto& pool : tables.snapshot->pools)
        for (const auto& replica : pool.replicas)
            if (replica.url == cause.unhealthy) replica.slot->publish(routing::Health::unhealthy, base::Instant{1s});
    const auto told = explained(tables, question(cause.body), true);
    ASSERT_TRUE(told.served()) << told.refusal->message;
    ASSERT_EQ(told.pools.size(), 2U);
    EXPECT_EQ(told.pools[0].reason, "");
    EXPECT_EQ(told.pools[0].share, 1);
    if (!cause.no_source.empty()) {
        EXPECT_EQ(told.pools[1].reason, "") << "it has a source now: give it a case, not " << cause.no_source;
        return;
    }
    EXPECT_EQ(told.pools[1].reason, model::text_of(cause.reason, cause.parameter));
    EXPECT_EQ(told.pools[1].share, 0);
    EXPECT_FALSE(told.pools[1].advice.empty());
    EXPECT_EQ(told.decision.eligible, (base::InlineVector<std::string_view, 2>{"plain"}));
    ASSERT_EQ(told.decision.excluded.size(), 1U);
    EXPECT_EQ(told.decision.excluded[0].reason, cause.reason);
    EXPECT_EQ(told.decision.excluded[0].parameter, cause.parameter);
    EXPECT_EQ(told.choice->why, "it is the only eligible pool");
}

std::vector<Cause> causes_with_a_source() {
    auto all = causes();
    std::erase_if(all, [](const Cause& cause) { return !cause.no_source.empty(); });
    return all;
}

INSTANTIATE_TEST_SUITE_P(Reasons, CauseTest, ::testing::ValuesIn(causes_with_a_source()),
                         [](const auto& info) { return std::string{name_of(info.param.reason)}; });

struct RefusalCase {
    std::string_view name;
    std::function<void(Fleet&)> change;
    Question question;
    Reason reason{};
    std::string_view param;
    std::string_view advice_holds;
};

std::vector<RefusalCase> refusal_cases() {
    const auto nothing = [](Fleet&) {};
    return {
        {"not JSON", nothing, raw("{nonsense"), Reason::invalid_json, "", "no configuration changes that"},
        {"nothing", nothing, raw(""), Reason::invalid_json, "", "body itself"},
        {"deep", nothing, raw(std::string(200'000, '[')), Reason::invalid_json, "", "body itself"},
        {"no UTF-8", nothing, raw("{\"model\":\"\xff\"}"), Reason::invalid_json, "", "body itself"},
        {"a wrong type", nothing, raw(R"({"model":5})"), Reason::invalid_request, "model", "body itself"},
        {"state", nothing, question(R"(,"previous_response_id":"r")"), Reason::unsupported_parameter,
         "previous_response_id", "body itself"},
        {"an unknown alias", nothing, raw(R"({"model":"chta"})"), Reason::model_not_found, "model",
         "did you mean chat?"},
        {"an alias of others", [](Fleet& fleet) { fleet.tenant.aliases.emplace(); }, question(),
         Reason::model_not_found, "model", "tenants.acme.aliases"},
        {"an endpoint outside the contract", [](Fleet& fleet) { fleet.alias.endpoints = {}; }, question(),
         Reason::endpoint_not_supported, "model", "aliases.chat.endpoints"},
        {"no streaming", [](Fleet& fleet) { fleet.alias.streaming = false; }, question(R"(,"stream":true)"),
         Reason::unsupported_parameter, "stream", "aliases.chat.endpoints and .streaming"},
        {"too long", [](Fleet& fleet) { fleet.limits.body_bytes = 20; }, question(), Reason::request_too_large, "",
         "server.limits.body"},
        {"an expired key",
         [](Fleet& fleet) { fleet.tenant.keys[0].expires = std::chrono::sys_days{std::chrono::year{2026} / 11 / 29}; },
         question(), Reason::invalid_api_key, "", "has expired"},
        {"no pool honours it", nothing, question(R"(,"min_tokens":3)"), Reason::unsupported_parameter, "min_tokens",
         "Each pool"},
        {"a region that no pool is in", [](Fleet& fleet) { fleet.tenant.regions = {"us"}; }, question(),
         Reason::region_not_allowed, "", "Each pool"},
    };
}

TEST(Explain, RefusalsAreThoseOfTheRequestPathWithAdviceForOperators) {
    for (const auto& [name, change, asked, reason, param, advice] : refusal_cases()) {
        SCOPED_TRACE(name);
        Fleet fleet;
        change(fleet);
        const auto told = explained(fleet.tables(), asked);
        ASSERT_FALSE(told.served());
        EXPECT_EQ(name_of(told.refusal->reason), name_of(reason));
        EXPECT_EQ(told.refusal->param, param);
        EXPECT_FALSE(told.refusal->message.empty());
        EXPECT_TRUE(holds(told.advice, advice)) << told.advice;
        EXPECT_FALSE(told.choice.has_value());
        EXPECT_EQ(told.decision.chosen_by, "");
    }
}

TEST(Explain, ADrainingGatewayRefuses) {
    const auto told = explain(Fleet{}.tables(), question(), {.now = now, .live = true, .draining = true});
    EXPECT_EQ(told->refusal->reason, Reason::draining);
}

TEST(Explain, SharesAreThoseOfTheRandomChoice) {
    Fleet fleet;
    Fleet::add_replica(fleet.odd, 3);
    const auto tables = fleet.tables();
    const auto lease = tables.snapshot->pools[1].replicas[1].slot->acquire();
    const auto told = explained(tables, question(), true);
    EXPECT_DOUBLE_EQ(told.pools[0].replicas[0].share, 0.5);  // it wins against one, and half of the ties
    EXPECT_DOUBLE_EQ(told.pools[1].replicas[0].share, 0.5);
    EXPECT_DOUBLE_EQ(told.pools[1].replicas[1].share, 0);  // loses against both
    EXPECT_EQ(told.pools[1].replicas[1].in_flight, 1U);
    EXPECT_DOUBLE_EQ(told.choice->baseline_share, 1);  // where nothing speculates all pools are baselines
    EXPECT_EQ(told.decision.chosen_by, "power_of_two");
    EXPECT_FALSE(told.decision.score.has_value());
    EXPECT_TRUE(holds(told.choice->why, "share the lowest order (1)")) << told.choice->why;
}

TEST(Explain, TheArmIsUncertainWhereBothShareAnOrder) {
    Fleet fleet;
    speculate(fleet.odd);
    fleet.odd_use.admitted = true;
    const auto told = explained(fleet.tables());
    EXPECT_EQ(told.pools[0].arm, "baseline");
    EXPECT_EQ(told.pools[1].arm, "candidate");
    EXPECT_DOUBLE_EQ(told.choice->baseline_share, 0.5);
}

TEST(Explain, OrdersSpillAndGiveWay) {
    Fleet fleet;
    fleet.odd_use.order = 2;
    fleet.plain.max_concurrency_per_replica = fleet.odd.max_concurrency_per_replica = 1;
    const auto tables = fleet.tables();
    auto told = explained(tables, question(), true);
    EXPECT_EQ(told.choice->why, "it has the lowest order (1) of 2 eligible pools");
    EXPECT_EQ(told.decision.score, 0);
    const auto first = tables.snapshot->pools[0].replicas[0].slot->acquire();
    told = explained(tables, question(), true);
    EXPECT_EQ(told.pools[1].share, 1);
    EXPECT_TRUE(holds(told.choice->why, "lower order is at its limit")) << told.choice->why;
    const auto second = tables.snapshot->pools[1].replicas[0].slot->acquire();
    told = explained(tables, question(), true);
    EXPECT_EQ(told.pools[0].share, 1);
    EXPECT_TRUE(told.choice->over_limit);
    EXPECT_EQ(told.decision.score, 1);
}

TEST(Explain, SaysWhereAPromptMayNotFit) {
    Fleet fleet;
    fleet.plain.capabilities.context_tokens = 1000;
    const auto tables = fleet.tables();
    EXPECT_TRUE(explained(tables).notes.size() == 1) << "offline nothing is known of any pool";
    const auto unknown = explained(tables, question(), true);
    ASSERT_EQ(unknown.notes.size(), 1U);
    EXPECT_TRUE(holds(unknown.notes[0], "the context of plain is not certain")) << unknown.notes[0];
    EXPECT_TRUE(unknown.served());
    tables.snapshot->pools[0].prompts->note(routing::PromptKind::chat, {.tokens = 20, .bytes = 60});
    EXPECT_TRUE(explained(tables, question(), true).notes.empty());
}

TEST(Explain, WhoAsks) {
    Fleet fleet;
    EXPECT_EQ(explained(fleet.tables()).caller->key, "one");  // the only one
    fleet.tenant.regions = {"us"};
    fleet.tenant.keys.push_back(Fleet::key("two"));
    const auto nobody = explained(fleet.tables());
    EXPECT_FALSE(nobody.caller.has_value());
    EXPECT_TRUE(nobody.served());  // the tenant's regions are not applied
    EXPECT_TRUE(holds(nobody.notes[0], "--key")) << nobody.notes[0];
    const auto named = explained(fleet.tables(), question("", "two"));
    EXPECT_EQ(named.caller->key, "two");
    EXPECT_EQ(named.refusal->reason, Reason::region_not_allowed);
}

TEST(Explain, KeysAreFoundByNameWithOrWithoutTheirTenant) {
    auto config = Fleet{}.config();
    auto other = Fleet::acme();
    other.name = "other";
    other.keys[0].sha256 = base::sha256("another");
    config.tenants.add(other);
    const auto tables = Fleet::tables_of(std::move(config));
    const auto error = [&](std::string key) {
        return explain(tables, question("", std::move(key)), {.now = now}).error();
    };
    EXPECT_EQ(error("onee").message(), "there is no key 'onee'; did you mean one?");
    EXPECT_EQ(error("onee").code(), base::ErrorCode::not_found);
    EXPECT_EQ(error("one").message(), "several tenants have a key 'one'; write it as acme/one");
    EXPECT_EQ(error("acme/").code(), base::ErrorCode::not_found);
    EXPECT_EQ(explained(tables, question("", "other/one")).caller->tenant, "other");
}

TEST(Explain, TheJsonFormIsComplete) {
    Fleet fleet;
    fleet.odd.region = "us";
    fleet.tenant.regions = {"eu"};
    const auto served = to_json(explained(fleet.tables(), question(R"(,"max_tokens":5,"stream":true)"), true));
    EXPECT_EQ(
        served,
        R"({"outcome":"served","signals":"live","config_version":"0123456789ab",)"
        R"("caller":{"tenant":"acme","key":"one","team":null,"application":null,"workload":null,"permissions":[]},)"
        R"("request":{"endpoint":"chat.completions","prompt_bytes":89,"model":"chat","stream":true,"features":[],)"
        R"("max_tokens":5},"alias":"chat","policy_outcome":"allowed","refusal":null,)"
        R"("choice":{"chosen_by":"only_candidate","order":1,"over_limit":false,"arms":{"baseline":1,"candidate":0},)"
        R"("why":"it is the only eligible pool"},)"
        R"("decision":{"eligible":["plain"],"excluded":{"odd":"region_forbidden"},"chosen_by":"only_candidate",)"
        R"("score":0},"pools":[{"pool":"plain","arm":"baseline","order":1,"eligible":true,"reason":null,)"
        R"("advice":null,"share":1,"replicas":[{"url":"http://127.0.0.1:1","state":"unknown","usable":true,)"
        R"("in_flight":0,"limit":null,"share":1}]},{"pool":"odd","arm":"baseline","order":1,"eligible":false,)"
        R"("reason":"region_forbidden","advice":"pools.odd.region must be among aliases.chat.regions and among )"
        R"(tenants.acme.regions, where they name any; widen them only if the data may go there.","share":0,)"
        R"("replicas":[{"url":"http://127.0.0.1:2","state":"unknown","usable":true,"in_flight":0,"limit":null,)"
        R"("share":0}]}],"notes":[]})");
    const auto refused = to_json(explained(fleet.tables(), raw("[]"), true));
    EXPECT_TRUE(holds(refused, R"("request":{"endpoint":"chat.completions","prompt_bytes":2},"alias":null,)"
                               R"("policy_outcome":null,"refusal":{"status":400,"reason":"invalid_json",)"
                               R"("message":"The request body must be a JSON object.","param":null,)"))
        << refused;
}

}  // namespace
}  // namespace weir::gateway
