#include "telemetry/record_json.h"

#include "telemetry/test_record.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weir::telemetry {
namespace {

TEST(RecordJson, HasEveryFieldUnderTheNameOfTheContract) {
    EXPECT_EQ(
        to_json(test::full_record()),
        R"({"request_id":"req-0000000000000000001","client_request_id":"client \"1\"","trace_id":"0af7651916cd43dd8448eb211c80319c",)"
        R"("time":"2026-11-30T00:53:20.123Z","config_version":"c0ffee","tenant":"acme","team":"search","application":"autocomplete","key":"acme-1",)"
        R"("workload":"code","alias":"chat-large","endpoint":"chat.completions","stream":true,"client_timeout_ms":600000.000,"max_tokens":256,)"
        R"("features":["tools","logprobs"],"temperature_class":"greedy","pool":"main","replica":"http://10.0.0.1:8000","region":"eu-west",)"
        R"("engine_version":"0.22.0","assigned_arm":"baseline","decision":{"eligible":["main","spare"],)"
        R"("excluded":{"far":"region_forbidden","small":"parameter_unsupported:min_p"},"chosen_by":"power_of_two","score":0.5,"inflight_at_dispatch":3},)"
        R"("attempts":[{"pool":"spare","replica":"http://10.0.0.2:8000","engine_request_id":"req-0000000000000000001-1","outcome":"connect_failed","duration":1.500},)"
        R"({"pool":"main","replica":"http://10.0.0.1:8000","engine_request_id":"req-0000000000000000001-2","outcome":"ok","duration":812.250,)"
        R"("prompt_tokens":100,"completion_tokens":41}],"status":200,"outcome":"ok","policy_outcome":"allowed","prompt_bytes":2048,"prompt_tokens":100,)"
        R"("cached_tokens":64,"completion_tokens":41,"reasoning_tokens":7,"delivered_tokens":40,"usage_source":"engine","finish_reason":"stop",)"
        R"("queue_ms":0.000,"ttft_ms":93.000,"upstream_ttft_ms":88.500,"first_visible_ms":120.000,"tpot_ms":20.125,"duration_ms":905.000,"gateway_ms":0.400,)"
        R"("events":38,"spec":{"steps":20,"drafted":60,"accepted":21,"accepted_length":2.05,"source":"engine"}})");
}

TEST(RecordJson, WhatIsNotKnownIsAbsentAndNeverZero) {
    EXPECT_EQ(
        to_json(test::sparse_record()),
        R"({"request_id":"req-0000000000000000002","time":"2026-11-30T00:53:20.000Z","tenant":"acme","key":"acme-1","stream":false,"features":[],)"
        R"("decision":{"eligible":[],"excluded":{}},"attempts":[],"status":404,"outcome":"refused","reason":"model_not_found","usage_source":"none","duration_ms":0.250})");
}

TEST(RecordJson, OfAnInterruptedRequestOnlyWhatItsBeginTold) {
    auto record = test::sparse_record();
    record.outcome = model::Outcome::interrupted;
    record.status = 0;
    record.reason.reset();
    record.client_timeout_ms = 1500;
    EXPECT_EQ(
        to_json(record),
        R"({"request_id":"req-0000000000000000002","time":"2026-11-30T00:53:20.000Z","tenant":"acme","key":"acme-1",)"
        R"("client_timeout_ms":1500.000,"outcome":"interrupted","usage_source":"none"})");
}

TEST(RecordJson, SaysThatItsListsWereCut) {
    auto record = test::full_record();
    record.decision.cut = true;
    EXPECT_NE(to_json(record).find(R"("inflight_at_dispatch":3,"cut":true})"), std::string::npos);
}

TEST(RecordJson, EscapesAtEveryPlaceWithinAText) {
    const std::vector<std::pair<char, std::string>> cases{
        {'"', "\\\""},       {'\\', "\\\\"},           {'\n', "\\n"}, {'\x1f', "\\u001f"},
        {'\x7f', "\\u007f"}, {'\xff', "\xEF\xBF\xBD"}, {' ', " "},    {'~', "~"}};
    for (const auto& [odd, shown] : cases)
        for (std::size_t length = 1; length <= 50; ++length)
            for (std::size_t at = 0; at < length; ++at) {
                auto record = test::sparse_record();
                record.alias = test::kept(std::string(at, 'a') + odd + std::string(length - at - 1, 'b'));
                const auto expected =
                    "\"alias\":\"" + std::string(at, 'a') + shown + std::string(length - at - 1, 'b') + "\"";
                ASSERT_NE(to_json(record).find(expected), std::string::npos) << to_json(record);
            }
}

TEST(RecordJson, GoesBehindWhatIsThereHoweverLongItIs) {
    auto record = test::full_record();
    record.client_request_id = test::kept(std::string(20'000, 'x'));
    record.finish_reason = std::string(5'000, '"');
    std::string out = "before ";
    append_json(out, record);
    EXPECT_EQ(out, "before " + to_json(record));
    EXPECT_GT(out.size(), 30'000U);
}

TEST(RecordJson, IsOneLineWhateverTheClientSent) {
    auto record = test::full_record();
    record.client_request_id = std::string_view{"a\nb\r\x01\xff\0c", 8};
    record.finish_reason = "\xe2\x80\xa8";
    const auto line = to_json(record);
    for (const char c : line)
        ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20) << line;
    EXPECT_NE(line.find(R"("client_request_id":"a\nb\r\u0001)"), std::string::npos) << line;
}

TEST(RecordJson, MillisecondsHaveThreeDecimals) {
    const std::vector<std::pair<double, std::string>> cases{
        {0, "0.000"},
        {0.25, "0.250"},
        {0.0004, "0.000"},
        {0.0006, "0.001"},
        {1.999'9, "2.000"},
        {12.034, "12.034"},
        {86'400'000.125, "86400000.125"},
        {-1.5, "-1.500"},
        {1e300, "null"},
        {std::numeric_limits<double>::infinity(), "null"},
        {std::numeric_limits<double>::quiet_NaN(), "null"},
    };
    for (const auto& [value, text] : cases) {
        std::string json;
        append_milliseconds(json, value);
        EXPECT_EQ(json, text);
    }
}

}  // namespace
}  // namespace weir::telemetry
