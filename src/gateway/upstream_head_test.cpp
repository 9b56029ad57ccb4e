#include "gateway/upstream_head.h"

#include <gtest/gtest.h>

namespace weir::gateway {
namespace {

const std::string trace_id = "0af7651916cd43dd8448eb211c80319c";
const std::string parent = "00-" + trace_id + "-b7ad6b7169203331-01";

std::string head_for(std::initializer_list<http::Field> client, std::string_view credential = "") {
    http::FieldTable fields;
    for (const auto field : client)
        fields.add(field);
    return upstream_head({.path = "/v1/chat/completions",
                          .authority = "10.0.0.1:8000",
                          .credential = credential,
                          .request_id = "abc-1",
                          .span_id = "00000000000000ff",
                          .stream = true,
                          .body_bytes = 12},
                         forwarded_fields(fields));
}

TEST(UpstreamHead, SaysWhatTheEngineNeeds) {
    EXPECT_EQ(head_for({}, "secret"),
              "POST /v1/chat/completions HTTP/1.1\r\nhost: 10.0.0.1:8000\r\nuser-agent: weir\r\ncontent-type: "
              "application/json\r\n"
              "content-length: 12\r\naccept: text/event-stream\r\naccept-encoding: identity\r\nx-request-id: abc-1\r\n"
              "authorization: Bearer secret\r\n\r\n");
}

TEST(UpstreamHead, NothingOfTheCallersPassesButTheAllowList) {
    const auto head = head_for({{"Authorization", "Bearer caller"},
                                {"x-api-key", "caller"},
                                {"Cookie", "caller"},
                                {"Connection", "x-evil"},
                                {"x-evil", "caller"},
                                {"X-Request-Id", "caller"},
                                {"X-Conversation-Id", "caller"},
                                {"Host", "caller"},
                                {"Transfer-Encoding", "caller"},
                                {"accept-encoding", "gzip"},
                                {"endpoint-load-metrics-format", "caller"}});
    EXPECT_EQ(head.find("caller"), std::string::npos) << head;
    EXPECT_EQ(head.find("gzip"), std::string::npos);
    EXPECT_EQ(head.find("authorization"), std::string::npos);
    const auto passed = head_for({{"Anthropic-Version", "2023-06-01"}, {"anthropic-beta", "b"}});
    EXPECT_NE(passed.find("anthropic-version: 2023-06-01\r\n"), std::string::npos);
    EXPECT_NE(passed.find("anthropic-beta: b\r\n"), std::string::npos);
}

TEST(UpstreamHead, EveryLineOfAListPasses) {
    const auto head = head_for({{"Anthropic-Beta", "one"},
                                {"anthropic-version", "2023-06-01"},
                                {"anthropic-beta", "two, three"},
                                {"anthropic-version", "1999-01-01"}});
    EXPECT_NE(head.find("anthropic-version: 2023-06-01\r\nanthropic-beta: one\r\nanthropic-beta: two, three\r\n"),
              std::string::npos)
        << head;
    EXPECT_EQ(head.find("1999"), std::string::npos) << "a version is one";
    const auto traced = head_for({{"traceparent", parent}, {"tracestate", "v=1"}, {"TraceState", "w=2"}});
    EXPECT_NE(traced.find("tracestate: v=1\r\ntracestate: w=2\r\n"), std::string::npos) << traced;
    EXPECT_EQ(head_for({{"traceparent", parent}, {"traceparent", parent}, {"tracestate", "v=1"}}).find("trace"),
              std::string::npos)
        << "two parents are none";
}

TEST(UpstreamHead, ContinuesAValidTraceWithItsOwnSpan) {
    const auto head = head_for({{"traceparent", parent}, {"tracestate", "v=1"}});
    EXPECT_NE(head.find("traceparent: 00-" + trace_id + "-00000000000000ff-01\r\n"), std::string::npos) << head;
    EXPECT_NE(head.find("tracestate: v=1\r\n"), std::string::npos);
    EXPECT_EQ(head_for({{"traceparent", "00-bad"}, {"tracestate", "v=1"}}).find("trace"), std::string::npos);
}

TEST(UpstreamHead, RefusesBrokenTraceParents) {
    EXPECT_TRUE(parse_traceparent(parent).has_value());
    for (const std::string& bad :
         {std::string{}, "01" + parent.substr(2), parent + "0", "00-" + std::string(32, '0') + "-b7ad6b7169203331-01",
          "00-" + trace_id + "-0000000000000000-01", "00-" + std::string(32, 'G') + "-b7ad6b7169203331-01"})
        EXPECT_FALSE(parse_traceparent(bad).has_value()) << bad;
}

}  // namespace
}  // namespace weir::gateway
