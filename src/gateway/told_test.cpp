#include "gateway/told.h"

#include <gtest/gtest.h>

namespace weir::gateway {
namespace {

using model::Ineligible;

TEST(Told, TheDecisionNamesItsRuleAndEveryExcludedPool) {
    model::DecisionRecord decision;
    EXPECT_EQ(decision_text(decision), "");
    decision.excluded = {{.pool = "far", .reason = Ineligible::region_forbidden, .parameter = ""},
                         {.pool = "small", .reason = Ineligible::parameter_unsupported, .parameter = "min_p"}};
    EXPECT_EQ(decision_text(decision), "far=region_forbidden; small=parameter_unsupported:min_p");
    decision.chosen_by = "power_of_two";
    decision.inflight_at_dispatch = 2;
    EXPECT_EQ(decision_text(decision),
              "power_of_two; in_flight=2; far=region_forbidden; small=parameter_unsupported:min_p");
}

}  // namespace
}  // namespace weir::gateway
