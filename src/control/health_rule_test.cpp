#include "control/health_rule.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::control {
namespace {

using engine::HealthAnswer;
using routing::Health;

TEST(HealthRule, IsPatientWithFailuresAndBelievesTheEngine) {
    constexpr auto ok = HealthAnswer::healthy;
    constexpr auto failed = HealthAnswer::failed;
    struct RuleCase {
        std::string name;
        std::vector<HealthAnswer> answers;
        Health expected;
    };
    const std::vector<RuleCase> cases{
        {"nothing asked yet", {}, Health::unknown},
        {"one failure changes nothing", {failed}, Health::unknown},
        {"two neither", {ok, failed, failed}, Health::healthy},
        {"three do", {ok, failed, failed, failed}, Health::unhealthy},
        {"and from the start", {failed, failed, failed}, Health::unhealthy},
        {"more change nothing", {failed, failed, failed, failed, failed}, Health::unhealthy},
        {"a success between starts the count anew", {failed, failed, ok, failed, failed}, Health::healthy},
        {"one success recovers", {failed, failed, failed, ok}, Health::healthy},
        {"and needs three failures again", {failed, failed, failed, ok, failed, failed}, Health::healthy},
        {"loading counts at once", {ok, HealthAnswer::loading}, Health::loading},
        {"so does death", {ok, HealthAnswer::unhealthy}, Health::unhealthy},
        {"a process that dies while loading", {HealthAnswer::loading, failed, failed, failed}, Health::unhealthy},
        {"loading after failures", {failed, failed, failed, HealthAnswer::loading}, Health::loading},
        {"loaded", {HealthAnswer::loading, ok}, Health::healthy},
    };
    for (const RuleCase& each : cases) {
        HealthRule rule;
        for (const HealthAnswer answer : each.answers)
            EXPECT_EQ(rule.after(answer), rule.state());
        EXPECT_EQ(rule.state(), each.expected) << each.name << ": " << routing::name_of(rule.state());
    }
}

}  // namespace
}  // namespace weir::control
