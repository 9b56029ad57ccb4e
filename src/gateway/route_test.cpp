#include "gateway/route.h"

#include <gtest/gtest.h>

namespace weir::gateway {
namespace {

http::RequestHead head(std::string_view method, std::string_view path) {
    http::RequestHead value;
    value.method = method;
    value.path = path;
    return value;
}

TEST(Route, KnowsTheOperations) {
    EXPECT_TRUE(std::holds_alternative<Generate>(*route(head("POST", "/v1/chat/completions"))));
    EXPECT_EQ(std::get<Generate>(*route(head("POST", "/v1/completions"))).endpoint, model::Endpoint::completions);
    EXPECT_EQ(std::get<Generate>(*route(head("POST", "/v1/embeddings"))).endpoint, model::Endpoint::embeddings);
    EXPECT_EQ(std::get<Generate>(*route(head("POST", "/tokenize"))).endpoint, model::Endpoint::tokenize);
    EXPECT_EQ(std::get<Generate>(*route(head("POST", "/tokenize"))).path, "/tokenize");
    EXPECT_EQ(std::get<Generate>(*route(head("POST", "/detokenize"))).endpoint, model::Endpoint::tokenize);
    EXPECT_EQ(std::get<Generate>(*route(head("POST", "/detokenize"))).path, "/detokenize");
    EXPECT_TRUE(std::holds_alternative<ListModels>(*route(head("GET", "/v1/models"))));
    EXPECT_TRUE(std::holds_alternative<ListModels>(*route(head("HEAD", "/v1/models"))));
    EXPECT_EQ(std::get<ShowModel>(*route(head("GET", "/v1/models/org/name"))).id, "org/name");
    EXPECT_EQ(std::get<ShowModel>(*route(head("GET", "/v1/models/a%2Fb%zz"))).id, "a/b%zz");
}

struct Case {
    std::string_view method;
    std::string_view path;
    model::Reason reason;
    std::string_view allow;
};

TEST(Route, RefusesTheRest) {
    using model::Reason;
    const Case cases[] = {
        {"GET", "/v1/chat/completions", Reason::method_not_allowed, "POST"},
        {"DELETE", "/v1/models", Reason::method_not_allowed, "GET, HEAD"},
        {"POST", "/v1/models/x", Reason::method_not_allowed, "GET, HEAD"},
        {"GET", "/v1/embeddings", Reason::method_not_allowed, "POST"},
        {"GET", "/tokenize", Reason::method_not_allowed, "POST"},
        {"GET", "/detokenize", Reason::method_not_allowed, "POST"},
        {"POST", "/v1/tokenize", Reason::endpoint_not_supported, ""},
        {"POST", "/completions", Reason::endpoint_not_supported, ""},
        {"POST", "/v1/messages", Reason::endpoint_not_supported, ""},
        {"GET", "/", Reason::endpoint_not_supported, ""},
        {"GET", "/v1/models/", Reason::endpoint_not_supported, ""},
        {"GET", "/v1/modelsx", Reason::endpoint_not_supported, ""},
        {"POST", "/v1/chat/completions/", Reason::endpoint_not_supported, ""},
        {"POST", "/v1/chat/completions2", Reason::endpoint_not_supported, ""},
        {"GET", "/metrics", Reason::endpoint_not_supported, ""},
    };
    for (const auto& c : cases) {
        const auto result = route(head(c.method, c.path));
        ASSERT_FALSE(result.has_value()) << c.method << " " << c.path;
        EXPECT_EQ(result.error().reason, c.reason) << c.path;
        EXPECT_EQ(result.error().allow, c.allow) << c.path;
    }
}

TEST(Route, ModelsAreListedAsOpenAiDoes) {
    EXPECT_EQ(
        model_list_json({{"a", 4096}, {"b", std::nullopt}}),
        R"({"object":"list","data":[{"id":"a","object":"model","created":0,"owned_by":"weir","max_model_len":4096},)"
        R"({"id":"b","object":"model","created":0,"owned_by":"weir"}]})");
}

}  // namespace
}  // namespace weir::gateway
