#include "admin/admin_endpoint.h"

#include "base/sha256.h"

#include <gtest/gtest.h>

#include <ostream>

namespace weir::admin {
namespace {

using config::Role;

io::Task<ApiReply> nothing(ApiRequest) { co_return ApiReply{.body = "{}"}; }

std::vector<Route> routes() {
    return {{.method = "GET", .path = "/admin/v1/config", .needed = Role::viewer, .act = nothing},
            {.method = "POST", .path = "/admin/v1/explain", .needed = Role::viewer, .act = nothing},
            {.method = "GET", .path = "/admin/v1/thing", .needed = Role::viewer, .act = nothing},
            {.method = "DELETE", .path = "/admin/v1/thing", .needed = Role::operator_, .act = nothing},
            {.method = "GET", .path = "/admin/v1/things/{id}", .needed = Role::viewer, .act = nothing}};
}

AdminEndpoint endpoint() {
    config::Server server;
    server.admin_tokens = {{.name = "ann", .sha256 = base::sha256("ann-token"), .role = Role::operator_},
                           {.name = "bob", .sha256 = base::sha256("bob-token"), .role = Role::viewer}};
    return AdminEndpoint{routes(), access_rules(server, "127.0.0.1:8081"), [](const std::string&) {}};
}

// A valid default; a case states only the difference.
struct HeadCase {
    std::string name;
    std::string_view method = "GET";
    std::string_view path = "/admin/v1/config";
    std::vector<http::Field> fields{{"host", "localhost:8081"}, {"authorization", "Bearer bob-token"}};
    int status = 200;
    std::string_view code;
    std::string_view allow;
    std::string_view route;  // "" = as the path
    std::string_view id;
};
void PrintTo(const HeadCase& c, std::ostream* out) { *out << c.name; }

std::vector<http::Field> fields(std::string_view host, std::string_view token, std::string_view type = "") {
    std::vector<http::Field> all{{"host", host}, {"authorization", token}};
    if (!type.empty()) all.push_back({"content-type", type});
    return all;
}

class HeadTest : public testing::TestWithParam<HeadCase> {};

TEST_P(HeadTest, IsAdmittedOrRefusedAsDocumented) {
    const auto& given = GetParam();
    http::RequestHead head;
    head.method = given.method;
    head.path = given.path;
    for (const auto& field : given.fields)
        head.fields.add(field);
    const auto admin = endpoint();
    const auto answer = admin.admit(head);
    if (given.status == 200) {
        ASSERT_TRUE(std::holds_alternative<AdminEndpoint::Admitted>(answer));
        const auto& admitted = std::get<AdminEndpoint::Admitted>(answer);
        EXPECT_EQ(admitted.route->path, given.route.empty() ? given.path : given.route);
        EXPECT_EQ(admitted.id, given.id);
        return;
    }
    ASSERT_TRUE(std::holds_alternative<ApiReply>(answer));
    const auto& reply = std::get<ApiReply>(answer);
    EXPECT_EQ(reply.status, given.status);
    EXPECT_EQ(reply.reason, given.code);
    EXPECT_EQ(reply.allow, given.allow);
    EXPECT_NE(reply.body.find("\"code\":\"" + std::string{given.code} + "\""), std::string::npos) << reply.body;
}

std::vector<HeadCase> head_cases() {
    constexpr std::string_view here = "localhost", ann = "Bearer ann-token", bob = "Bearer bob-token";
    constexpr std::string_view json = "application/json";
    return {
        {.name = "a_viewer_reads"},
        {.name = "head_is_get_without_a_body", .method = "HEAD"},
        {.name = "post", .method = "POST", .path = "/admin/v1/explain", .fields = fields(here, bob, json)},
        {.name = "json_with_a_charset",
         .method = "POST",
         .path = "/admin/v1/explain",
         .fields = fields(here, bob, "Application/JSON; charset=utf-8")},
        {.name = "no_host", .fields = {{"authorization", bob}}, .status = 403, .code = "host_not_allowed"},
        {.name = "another_host", .fields = fields("evil.example", bob), .status = 403, .code = "host_not_allowed"},
        {.name = "no_token", .fields = {{"host", here}}, .status = 401, .code = "invalid_admin_token"},
        {.name = "a_wrong_token", .fields = fields(here, "Bearer x"), .status = 401, .code = "invalid_admin_token"},
        {.name = "two_tokens",
         .fields = {{"host", here}, {"authorization", bob}, {"authorization", ann}},
         .status = 401,
         .code = "invalid_admin_token"},
        {.name = "the_token_comes_before_the_path",
         .path = "/nowhere",
         .fields = {{"host", here}},
         .status = 401,
         .code = "invalid_admin_token"},
        {.name = "no_such_path", .path = "/admin/v1/config/", .status = 404, .code = "not_found"},
        {.name = "an_id", .path = "/admin/v1/things/a-1", .route = "/admin/v1/things/{id}", .id = "a-1"},
        {.name = "an_id_that_looks_like_the_route",
         .path = "/admin/v1/things/{id}",
         .route = "/admin/v1/things/{id}",
         .id = "{id}"},
        {.name = "no_id", .path = "/admin/v1/things/", .status = 404, .code = "not_found"},
        {.name = "more_than_an_id", .path = "/admin/v1/things/a/b", .status = 404, .code = "not_found"},
        {.name = "the_root", .path = "/", .status = 404, .code = "not_found"},
        {.name = "the_wrong_method",
         .method = "POST",
         .fields = fields(here, bob, json),
         .status = 405,
         .code = "method_not_allowed",
         .allow = "GET, HEAD"},
        {.name = "every_method_is_named",
         .method = "PATCH",
         .path = "/admin/v1/thing",
         .fields = fields(here, ann, json),
         .status = 405,
         .code = "method_not_allowed",
         .allow = "GET, HEAD, DELETE"},
        {.name = "a_viewer_changes_nothing",
         .method = "DELETE",
         .path = "/admin/v1/thing",
         .fields = fields(here, bob, json),
         .status = 403,
         .code = "role_not_allowed"},
        {.name = "an_operator_does", .method = "DELETE", .path = "/admin/v1/thing", .fields = fields(here, ann, json)},
        {.name = "a_form_of_another_site",
         .method = "POST",
         .path = "/admin/v1/explain",
         .fields = fields(here, bob, "text/plain"),
         .status = 415,
         .code = "unsupported_media_type"},
        {.name = "no_type_is_not_json",
         .method = "POST",
         .path = "/admin/v1/explain",
         .fields = fields(here, bob),
         .status = 415,
         .code = "unsupported_media_type"},
        {.name = "deleting_needs_the_type_too",
         .method = "DELETE",
         .path = "/admin/v1/thing",
         .fields = fields(here, ann),
         .status = 415,
         .code = "unsupported_media_type"},
    };
}

INSTANTIATE_TEST_SUITE_P(Heads, HeadTest, testing::ValuesIn(head_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(AdminApi, QueriesAreDecoded) {
    using Pairs = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(parse_query(""), Pairs{});
    EXPECT_EQ(parse_query("key=acme%2Fone&&flag&empty="), (Pairs{{"key", "acme/one"}, {"flag", ""}, {"empty", ""}}));
    EXPECT_EQ(parse_query("a=b=c"), (Pairs{{"a", "b=c"}}));
}

TEST(AdminApi, ErrorsAreOpenAiErrorObjects) {
    EXPECT_EQ(
        error_body({.status = 400, .code = "invalid_request", .message = "No \"x\".", .param = "key"}),
        R"({"error":{"message":"No \"x\".","type":"invalid_request_error","param":"key","code":"invalid_request"}})");
    EXPECT_EQ(reply_with({.status = 503, .code = "overloaded", .message = "m"}).retry_after_s, 1);
    EXPECT_NE(error_body({.status = 500, .code = "internal_error", .message = "m"}).find(R"("type":"server_error")"),
              std::string::npos);
}

}  // namespace
}  // namespace weir::admin
