#include "admin/metrics_endpoint.h"

#include <gtest/gtest.h>

#include <ostream>
#include <vector>

namespace weir::admin {
namespace {

struct PageCase {
    std::string name;
    std::string method = "GET";
    std::string path;
    bool ready = true;
    int status = 200;
    std::string content_type = "text/plain; charset=utf-8";
    std::string body_holds;
    std::string allow;
};
void PrintTo(const PageCase& page, std::ostream* out) { *out << page.name; }

class PageTest : public testing::TestWithParam<PageCase> {};

TEST_P(PageTest, AnswersAsDocumented) {
    const auto& page = GetParam();
    const MetricsEndpoint endpoint{[] { return std::string{"weir_requests_total 1\n"}; },
                                   [&page] { return Readiness{page.ready, page.ready ? "ready" : "draining"}; }};
    const auto reply = endpoint.reply_to(page.method, page.path);
    EXPECT_EQ(reply.status, page.status);
    EXPECT_EQ(reply.content_type, page.content_type);
    EXPECT_NE(reply.body.find(page.body_holds), std::string::npos) << reply.body;
    EXPECT_EQ(reply.allow, page.allow);
}

std::vector<PageCase> page_cases() {
    const std::string json = "application/json";
    return {
        {.name = "metrics",
         .path = "/metrics",
         .content_type = "text/plain; version=0.0.4; charset=utf-8",
         .body_holds = "weir_requests_total 1\n"},
        {.name = "head_of_metrics",
         .method = "HEAD",
         .path = "/metrics",
         .content_type = "text/plain; version=0.0.4; charset=utf-8"},
        {.name = "alive", .path = "/livez", .body_holds = "alive"},
        {.name = "P024_alive_while_draining", .path = "/livez", .ready = false, .body_holds = "alive"},
        {.name = "ready", .path = "/readyz", .body_holds = "ready"},
        {.name = "not_ready_says_why", .path = "/readyz", .ready = false, .status = 503, .body_holds = "draining"},
        {.name = "head_of_readyz_while_draining", .method = "HEAD", .path = "/readyz", .ready = false, .status = 503},
        {.name = "metrics_while_draining",
         .path = "/metrics",
         .ready = false,
         .content_type = "text/plain; version=0.0.4; charset=utf-8"},
        {.name = "post_is_refused",
         .method = "POST",
         .path = "/metrics",
         .status = 405,
         .content_type = json,
         .body_holds = R"("code":"method_not_allowed")",
         .allow = "GET, HEAD"},
        {.name = "lower_case_method_is_another_method",
         .method = "get",
         .path = "/livez",
         .status = 405,
         .content_type = json,
         .allow = "GET, HEAD"},
        {.name = "root", .path = "/", .status = 404, .content_type = json, .body_holds = R"("code":"not_found")"},
        {.name = "no_path_below_a_page", .path = "/metrics/", .status = 404, .content_type = json},
        {.name = "no_admin_api_here", .path = "/admin/v1/config", .status = 404, .content_type = json},
        {.name = "unknown_path_wins_over_method",
         .method = "DELETE",
         .path = "/v1/models",
         .status = 404,
         .content_type = json},
    };
}

INSTANTIATE_TEST_SUITE_P(Pages, PageTest, testing::ValuesIn(page_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace weir::admin
