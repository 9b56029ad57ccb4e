#include "bench/plan.h"

#include <gtest/gtest.h>

namespace weir::bench {
namespace {

using std::chrono::milliseconds;

struct PlanCase {
    std::string_view text;
    Plan plan;
};

TEST(plan, reads_what_it_writes) {
    const PlanCase cases[] = {
        {"bench:whole", {}},
        {"bench:paced:200:20", {.kind = PlanKind::paced, .chunks = 200, .interval = milliseconds{20}}},
        {"bench:varied:3:7", {.kind = PlanKind::varied, .chunks = 3, .interval = milliseconds{7}}},
        {"bench:burst:20000", {.kind = PlanKind::burst, .chunks = 20000}},
        {"bench:idle", {.kind = PlanKind::idle}},
    };
    for (const auto& example : cases) {
        EXPECT_EQ(to_text(example.plan), example.text);
        const auto read = parse_plan(example.text);
        ASSERT_TRUE(read) << example.text;
        EXPECT_EQ(*read, example.plan) << example.text;
        const auto without_prefix = parse_plan(example.text.substr(6));
        ASSERT_TRUE(without_prefix) << example.text;
        EXPECT_EQ(*without_prefix, example.plan) << example.text;
    }
}

TEST(plan, refuses_what_is_none) {
    for (const std::string_view text : {"", "bench:", "quick", "paced", "paced:10", "paced:10:", "paced:0:20",
                                        "paced:10:0", "paced:10:20:30", "paced:-1:20", "varied:5", "paced:99999999:20",
                                        "paced:10:9999999", "burst:", "burst:x", "burst:5:5", "idle:1"})
        EXPECT_FALSE(parse_plan(text)) << text;
}

TEST(plan, is_found_in_a_request_body) {
    const auto found = find_plan(R"({"model":"m","user":"bench:burst:7","messages":[]})");
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, (Plan{.kind = PlanKind::burst, .chunks = 7}));
    const auto none = find_plan(R"({"model":"m","user":"somebody"})");
    ASSERT_TRUE(none);
    EXPECT_EQ(*none, Plan{});
    EXPECT_FALSE(find_plan(R"({"user":"bench:nonsense"})"));
}

}  // namespace
}  // namespace weir::bench
