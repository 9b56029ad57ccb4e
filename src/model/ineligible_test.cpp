#include "model/ineligible.h"

#include <gtest/gtest.h>

#include <set>

namespace weir::model {
namespace {

std::set<Ineligible> all() {
    std::set<Ineligible> reasons;
    for (int value = 0; value <= static_cast<int>(last_ineligible); ++value)
        reasons.insert(static_cast<Ineligible>(value));
    return reasons;
}

TEST(Ineligible, EveryReasonHasANameOfItsOwnAndOneSentenceOfAdvice) {
    std::set<std::string_view> names;
    std::set<std::string> sentences;
    for (const auto reason : all()) {
        const auto name = name_of(reason);
        SCOPED_TRACE(name);
        EXPECT_TRUE(names.insert(name).second && name != "other");
        const auto advice = advice_on(reason, {.alias = "a1", .pool = "p1", .tenant = "t1", .parameter = "min_p"});
        EXPECT_TRUE(sentences.insert(advice).second);
        EXPECT_TRUE(advice.ends_with('.'));
        EXPECT_EQ(advice.find_first_of("{}"), std::string::npos) << advice;
        EXPECT_EQ(advice.find(". "), std::string::npos) << advice;
    }
}

TEST(Ineligible, AdviceSpeaksOfTheCase) {
    EXPECT_EQ(
        advice_on(Ineligible::rollout_excluded, {.alias = "chat", .pool = "eagle", .tenant = "", .parameter = ""}),
        "It speculates, and no rollout lets it serve: start one, or write admitted: true for it in "
        "aliases.chat.pools.");
    EXPECT_NE(advice_on(Ineligible::region_forbidden, {.alias = "a", .pool = "p", .tenant = "", .parameter = ""})
                  .find("tenants.TENANT.regions"),
              std::string::npos);
    EXPECT_NE(advice_on(Ineligible::parameter_unsupported, {.alias = "a", .pool = "p", .tenant = "t", .parameter = "n"})
                  .find("'n'"),
              std::string::npos);
}

TEST(Ineligible, TheParameterFollowsTheName) {
    EXPECT_EQ(text_of(Ineligible::unmeasured, ""), "unmeasured");
    EXPECT_EQ(text_of(Ineligible::parameter_unreliable, "min_p"), "parameter_unreliable:min_p");
}

}  // namespace
}  // namespace weir::model
