#include "cli/record_text.h"

#include <gtest/gtest.h>

namespace weir::cli {
namespace {

TEST(RecordText, ShowsEveryMemberUnderItsName) {
    const auto text = record_text(
        R"({"request_id":"a1","time":"2026-11-30T10:00:00.000Z","features":["tools","logprobs"],"stream":true,)"
        R"("decision":{"eligible":["a","b"],"excluded":{"c":"parameter_unsupported:min_p"},"score":0.5},)"
        R"("attempts":[{"pool":"a","outcome":"reset"},{"pool":"b","outcome":"ok","prompt_tokens":7}],"status":200})");
    ASSERT_TRUE(text);
    EXPECT_EQ(*text,
              "request_id           a1\n"
              "time                 2026-11-30T10:00:00.000Z\n"
              "features             tools, logprobs\n"
              "stream               true\n"
              "decision.eligible    a, b\n"
              "decision.excluded.c  parameter_unsupported:min_p\n"
              "decision.score       0.5\n"
              "status               200\n"
              "\n"
              "attempts\n"
              "pool  outcome  prompt_tokens\n"
              "a     reset\n"
              "b     ok       7\n");
}

TEST(RecordText, WhatOthersWroteCannotSteerTheTerminal) {
    const auto text = record_text(R"({"client_request_id":"\u001b[2J","attempts":[]})");
    ASSERT_TRUE(text);
    EXPECT_EQ(*text, "client_request_id  ?[2J\nattempts           -\n");
}

TEST(RecordText, AnythingElseIsAnError) {
    for (const auto* bad : {"", "[]", "nothing", R"({"a":)"})
        EXPECT_FALSE(record_text(bad)) << bad;
}

}  // namespace
}  // namespace weir::cli
