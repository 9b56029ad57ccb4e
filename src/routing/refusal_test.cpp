#include "routing/eligibility.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::routing {
namespace {

using model::Ineligible;
using model::Reason;

struct RefusalCase {
    std::string name;
    base::InlineVector<Verdict, 2> verdicts;
    Reason expected;
    std::string parameter;
};

Verdict excluded(Ineligible reason, std::string_view parameter = {}) {
    return {.pool = 0, .reason = reason, .parameter = parameter};
}

TEST(Refusal, IsTheMostUsefulOne) {
    const Verdict no_min_p = excluded(Ineligible::parameter_unsupported, "min_p");
    const Verdict bad_logprobs = excluded(Ineligible::parameter_unreliable, "logprobs");
    const Verdict rollout = excluded(Ineligible::rollout_excluded);
    const Verdict sick = excluded(Ineligible::all_replicas_unhealthy);
    const std::vector<RefusalCase> cases{
        {"no pools at all", {}, Reason::no_eligible_pool, ""},
        {"every pool lacks a parameter", {no_min_p, no_min_p}, Reason::unsupported_parameter, "min_p"},
        {"unreliable is refused in the same way", {bad_logprobs}, Reason::unsupported_parameter, "logprobs"},
        {"nearest to success is named", {no_min_p, bad_logprobs}, Reason::unsupported_parameter, "logprobs"},
        {"a pool outside its rollout does not hide the cause",
         {no_min_p, rollout},
         Reason::unsupported_parameter,
         "min_p"},
        {"streaming is a parameter",
         {excluded(Ineligible::streaming_unsupported)},
         Reason::unsupported_parameter,
         "stream"},
        {"context", {excluded(Ineligible::context_exceeded), no_min_p}, Reason::context_length_exceeded, ""},
        {"endpoint", {excluded(Ineligible::endpoint_unsupported)}, Reason::endpoint_not_supported, ""},
        {"region", {excluded(Ineligible::region_forbidden)}, Reason::region_not_allowed, ""},
        {"data policy", {excluded(Ineligible::data_policy_forbidden)}, Reason::data_policy_not_allowed, ""},
        {"what the client can change comes before policy",
         {excluded(Ineligible::region_forbidden), no_min_p},
         Reason::unsupported_parameter,
         "min_p"},
        {"all unhealthy", {sick, sick}, Reason::pools_unhealthy, ""},
        {"a retry may help, so it is no client error", {no_min_p, sick}, Reason::pools_unhealthy, ""},
        {"draining passes too", {no_min_p, excluded(Ineligible::draining)}, Reason::no_eligible_pool, ""},
        {"drifted", {excluded(Ineligible::engine_drifted)}, Reason::no_eligible_pool, ""},
        {"unverified", {excluded(Ineligible::unverified)}, Reason::no_eligible_pool, ""},
        {"only an operator can help",
         {rollout, excluded(Ineligible::disabled), excluded(Ineligible::unmeasured),
          excluded(Ineligible::lossless_required), excluded(Ineligible::alias_mismatch)},
         Reason::no_eligible_pool,
         ""},
    };
    for (const RefusalCase& each : cases) {
        const Refusal refusal = refusal_of({.verdicts = each.verdicts});
        EXPECT_EQ(refusal.reason, each.expected) << each.name << ": " << model::name_of(refusal.reason);
        EXPECT_EQ(refusal.parameter, each.parameter) << each.name;
    }
}

}  // namespace
}  // namespace weir::routing
