#include "gateway/upstream_body.h"

#include "gateway/splice.h"

#include <gtest/gtest.h>

namespace weir::gateway {
namespace {

struct BodyCase {
    const char* name;
    std::string_view sent;
    bool ask_for_usage;
    std::string_view upstream;
    bool added;
};

TEST(UpstreamBody, ChangesOnlyWhatItMust) {
    const BodyCase cases[] = {
        {"model in the middle; spelling and order survive",
         R"({ "temperature":1.0e0, "model" : "alias" ,"x":"\u00e9"})", true,
         R"({ "temperature":1.0e0, "model" : "org/real" ,"x":"\u00e9"})", false},
        {"usage is asked for beside the model", R"({"model":"a","stream":true})", true,
         R"({"model":"org/real","stream_options":{"include_usage":true},"stream":true})", true},
        {"not when the engine tells it anyway", R"({"model":"a","stream":true})", false,
         R"({"model":"org/real","stream":true})", false},
        {"not when the client asked", R"({"model":"a","stream":true,"stream_options":{"include_usage":true}})", true,
         R"({"model":"org/real","stream":true,"stream_options":{"include_usage":true}})", false},
        {"an explicit false counts as not asked",
         R"({"stream_options":{"include_usage":false,"k":1},"model":"a","stream":true})", true,
         R"({"stream_options":{"include_usage":true,"k":1},"model":"org/real","stream":true})", true},
        {"null options", R"({"model":"a","stream":true,"stream_options":null})", true,
         R"({"model":"org/real","stream":true,"stream_options":{"include_usage":true}})", true},
        {"empty options", R"({"model":"a","stream":true,"stream_options":{}})", true,
         R"({"model":"org/real","stream":true,"stream_options":{"include_usage":true}})", true},
        {"other options", R"({"model":"a","stream":true,"stream_options":{ "continuous_usage_stats":false}})", true,
         R"({"model":"org/real","stream":true,"stream_options":{"include_usage":true, "continuous_usage_stats":false}})",
         true},
    };
    for (const auto& c : cases) {
        std::string body{c.sent};
        body.reserve(body.size() + 64);
        Inspector inspector;
        const auto inspected = inspector.inspect(body, model::Endpoint::chat_completions);
        ASSERT_TRUE(inspected.has_value()) << c.name;
        const UpstreamBody upstream{body, *inspected, R"("org/real")", c.ask_for_usage};
        EXPECT_EQ(joined(upstream.slices()), c.upstream) << c.name;
        EXPECT_EQ(upstream.bytes(), c.upstream.size()) << c.name;
        EXPECT_EQ(upstream.added_usage(), c.added) << c.name;
    }
}

TEST(UpstreamBody, TheServedModelIsEscaped) {
    std::string body = R"({"model":"a"})";
    body.reserve(body.size() + 64);
    Inspector inspector;
    const auto inspected = inspector.inspect(body, model::Endpoint::chat_completions);
    ASSERT_TRUE(inspected.has_value());
    const std::string model = json_string("a\"b\\c");
    const UpstreamBody upstream{body, *inspected, model, false};
    EXPECT_EQ(joined(upstream.slices()), R"({"model":"a\"b\\c"})");
}

}  // namespace
}  // namespace weir::gateway
