#include "gateway/refusal.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weir::gateway {
namespace {

using model::Reason;
using namespace std::chrono_literals;

std::string field(const RefusalFields& fields, std::string_view name) {
    const auto at = std::ranges::find(fields.all(), name, &http::Field::name);
    return at == fields.all().end() ? "(absent)" : std::string{at->value};
}

TEST(Refusal, BodyIsAnOpenAiErrorObject) {
    EXPECT_EQ(
        error_body({.reason = Reason::model_not_found, .message = "No \"x\".", .param = "model"}),
        R"({"error":{"message":"No \"x\".","type":"invalid_request_error","param":"model","code":"model_not_found"}})");
    EXPECT_EQ(error_body({.reason = Reason::upstream_rejected,
                          .message = "m",
                          .param = "",
                          .status = 422,
                          .code = "7",
                          .type = "BadRequestError"}),
              R"({"error":{"message":"m","type":"BadRequestError","param":null,"code":"7"}})");
    EXPECT_EQ(
        error_event({.reason = Reason::upstream_error, .message = "m"}),
        "data: "
        "{\"error\":{\"message\":\"m\",\"type\":\"server_error\",\"param\":null,\"code\":\"upstream_error\"}}\n\n");
}

struct HeaderCase {
    Refusal refusal;
    std::string_view retry_after;
    std::string_view retry_after_ms;
    std::string_view should_retry;
};

TEST(Refusal, HeadersTellWhetherAndWhenToRetry) {
    const HeaderCase cases[] = {
        {{.reason = Reason::invalid_json, .message = ""}, "(absent)", "(absent)", "false"},
        {{.reason = Reason::request_timeout, .message = ""}, "(absent)", "(absent)", "(absent)"},
        {{.reason = Reason::draining, .message = ""}, "1", "1000", "(absent)"},
        {{.reason = Reason::rate_limit_requests,
          .message = "",
          .param = "",
          .status = 0,
          .code = "",
          .type = "",
          .retry_after = 1500ms},
         "2",
         "1500",
         "(absent)"},
        {{.reason = Reason::upstream_saturated, .message = "", .param = "", .status = 429}, "1", "1000", "(absent)"},
        {{.reason = Reason::upstream_error, .message = ""}, "(absent)", "(absent)", "false"},
        {{.reason = Reason::upstream_timeout_idle, .message = ""}, "(absent)", "(absent)", "false"},
        {{.reason = Reason::internal_error, .message = ""}, "(absent)", "(absent)", "(absent)"},
        {{.reason = Reason::upstream_rejected, .message = "", .param = "", .status = 409},
         "(absent)",
         "(absent)",
         "(absent)"},
    };
    for (const auto& c : cases) {
        const RefusalFields fields{c.refusal, "id-1"};
        const auto name = model::name_of(c.refusal.reason);
        EXPECT_EQ(field(fields, "retry-after"), c.retry_after) << name;
        EXPECT_EQ(field(fields, "retry-after-ms"), c.retry_after_ms) << name;
        EXPECT_EQ(field(fields, "x-should-retry"), c.should_retry) << name;
        EXPECT_EQ(field(fields, "x-weir-reason"), name);
        EXPECT_EQ(field(fields, "x-request-id"), "id-1");
    }
}

TEST(Refusal, HeadersTellWhatIsKnownOfTheHandling) {
    const Refusal refusal{.reason = Reason::pools_unhealthy, .message = ""};
    const RefusalFields bare{refusal, "id-1"};
    for (const auto* name : {"server-timing", "x-weir-pool", "x-weir-replica", "x-weir-decision"})
        EXPECT_EQ(field(bare, name), "(absent)") << name;
    const RefusalFields told{refusal, "id-1", {.server_timing = "queue;dur=0.0", .decision = "far=draining"}};
    EXPECT_EQ(field(told, "server-timing"), "queue;dur=0.0");
    EXPECT_EQ(field(told, "x-weir-pool"), "(absent)");
    EXPECT_EQ(field(told, "x-weir-decision"), "far=draining");
}

}  // namespace
}  // namespace weir::gateway
