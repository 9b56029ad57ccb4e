#include "telemetry/record_codec.h"

#include "base/random.h"
#include "telemetry/record_json.h"
#include "telemetry/test_record.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace weir::telemetry {
namespace {

std::vector<std::byte> encoded(const model::RequestRecord& record, std::size_t room = max_record_bytes) {
    std::vector<std::byte> bytes(room);
    bytes.resize(encode_record(record, bytes));
    return bytes;
}

// Everything that a text may grow to, and every number there.
model::RequestRecord largest_record() {
    auto record = test::full_record();
    for (auto* text : {&record.request_id, &record.client_request_id, &record.trace_id, &record.config_version,
                       &record.caller.tenant, &record.caller.team, &record.caller.application, &record.caller.key,
                       &record.caller.workload, &record.alias, &record.temperature_class, &record.pool, &record.replica,
                       &record.region, &record.engine_version, &record.assigned_arm, &record.decision.chosen_by,
                       &record.policy_outcome, &record.spec.source})
        *text = test::kept(std::string(5000, 'x'));
    record.finish_reason = std::string(5000, 'x');
    record.reason = model::Reason::internal_error;
    return record;
}

// What is known of it when it has just been authenticated.
model::RequestRecord begin_of(const model::RequestRecord& record) {
    model::RequestRecord begin;
    begin.request_id = record.request_id;
    begin.client_request_id = record.client_request_id;
    begin.trace_id = record.trace_id;
    begin.time = record.time;
    begin.config_version = record.config_version;
    begin.caller = record.caller;
    begin.client_timeout_ms = record.client_timeout_ms;
    return begin;
}

TEST(RecordCodec, GivesARecordBackAsItWas) {
    auto begin = begin_of(test::full_record());
    for (const auto& record : {test::full_record(), test::sparse_record(), model::RequestRecord{}, begin}) {
        model::RequestRecord back = largest_record();  // what was in it before must not shine through
        const auto bytes = encoded(record);
        ASSERT_TRUE(decode_record(bytes, back));
        EXPECT_EQ(to_json(back), to_json(record));
        EXPECT_EQ(encoded(back), encoded(record));
    }
}

TEST(RecordCodec, KeepsTheExtremesOfItsNumbers) {
    auto record = test::full_record();
    record.prompt_tokens = std::numeric_limits<std::uint64_t>::max();
    record.duration_ms = -0.0;
    record.ttft_ms = std::numeric_limits<double>::denorm_min();
    record.time = base::WallTime{base::Nanoseconds{std::numeric_limits<std::int64_t>::min()}};
    record.status = -1;
    for (const auto feature : model::all_features)
        record.features.add(feature);
    model::RequestRecord back;
    ASSERT_TRUE(decode_record(encoded(record), back));
    EXPECT_EQ(back.prompt_tokens, record.prompt_tokens);
    EXPECT_EQ(back.ttft_ms, record.ttft_ms);
    EXPECT_EQ(back.time, record.time);
    EXPECT_EQ(back.status, -1);
    EXPECT_EQ(back.features, record.features);
}

TEST(RecordCodec, TheSizesItPromisesHold) {
    auto large = largest_record();
    const auto begin = encoded(begin_of(large));
    auto without_lists = large;
    without_lists.attempts.clear();
    without_lists.decision.eligible.clear();
    without_lists.decision.excluded.clear();
    EXPECT_LE(encoded(without_lists).size(), max_scalar_bytes);
    EXPECT_LE(encoded(without_lists).size(), begin.size() + record_growth_bytes);
    // With lists that do not fit, the same room is enough.
    model::RequestRecord back;
    const auto tight = encoded(large, begin.size() + record_growth_bytes);
    ASSERT_TRUE(decode_record(tight, back));
    EXPECT_LE(back.request_id.size(), 64U);
}

TEST(RecordCodec, CutsListsWhereTheRoomEndsAndSaysSo) {
    auto record = test::full_record();
    for (int i = 0; i < 300; ++i) {
        record.decision.eligible.push_back(test::kept("pool-" + std::to_string(i)));
        record.decision.excluded.push_back({.pool = test::kept("far-" + std::to_string(i)),
                                            .reason = model::Ineligible::region_forbidden,
                                            .parameter = ""});
    }
    const auto bytes = encoded(record);
    EXPECT_LE(bytes.size(), max_record_bytes);
    model::RequestRecord back;
    ASSERT_TRUE(decode_record(bytes, back));
    EXPECT_TRUE(back.decision.cut);
    EXPECT_EQ(back.attempts.size(), record.attempts.size()) << "attempts come first";
    EXPECT_GT(back.decision.eligible.size(), 100U);
    EXPECT_LT(back.decision.eligible.size() + back.decision.excluded.size(), 400U);
    EXPECT_EQ(back.decision.eligible[100], record.decision.eligible[100]);
    ASSERT_TRUE(decode_record(encoded(test::full_record()), back));
    EXPECT_FALSE(back.decision.cut) << "and not otherwise";
}

TEST(RecordCodec, ATruncatedRecordIsNoneAndNeitherIsOneWithMoreBehindIt) {
    const auto bytes = encoded(test::full_record());
    model::RequestRecord back;
    for (std::size_t length = 0; length < bytes.size(); ++length)
        ASSERT_FALSE(decode_record(std::span{bytes}.first(length), back)) << length;
    auto longer = bytes;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(decode_record(longer, back));
}

// Hostile bytes: whatever is decoded is a record that can be encoded and written again. ASan watches the bounds.
TEST(RecordCodec, AnyBytesGiveARecordOrNone) {
    const std::uint64_t seed = base::Random::from_system()();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    base::Random random{seed};
    const std::array originals{encoded(test::full_record()), encoded(test::sparse_record())};
    model::RequestRecord back;
    int accepted = 0;
    for (int round = 0; round < 20'000; ++round) {
        auto bytes = originals[static_cast<std::size_t>(round % 2)];
        const auto changes = 1 + random.below(8);
        for (std::uint64_t i = 0; i < changes; ++i)
            bytes[random.below(bytes.size())] = static_cast<std::byte>(random.below(256));
        if (random.below(4) == 0) bytes.resize(random.below(bytes.size() + 1));
        if (random.below(8) == 0)
            for (auto& byte : bytes)
                byte = static_cast<std::byte>(random.below(256));
        if (!decode_record(bytes, back)) continue;
        ++accepted;
        EXPECT_LE(encoded(back).size(), max_record_bytes);
        EXPECT_FALSE(to_json(back).empty());
    }
    EXPECT_GT(accepted, 100) << "some damage only changes values";
}

// These numbers are on disk between two processes. When this fails, the order has changed: raise
// record_codec_version, so that nobody reads old bytes with new meanings; then change this table.
TEST(RecordCodec, TheNumbersOfItsWordsAreThoseOfItsVersion) {
    EXPECT_EQ(record_codec_version, 1);
    EXPECT_EQ(static_cast<int>(model::Outcome::interrupted), 5);
    EXPECT_EQ(static_cast<int>(model::UsageSource::estimate), 2);
    EXPECT_EQ(static_cast<int>(model::AttemptOutcome::truncated), 8);
    EXPECT_EQ(static_cast<int>(model::AttemptOutcome::stale_connection), 10);
    EXPECT_EQ(static_cast<int>(model::Reason::upstream_rejected), 19);
    EXPECT_EQ(static_cast<int>(model::Reason::upstream_timeout_total), 34);
    EXPECT_EQ(static_cast<int>(model::Endpoint::tokenize), 7);
    EXPECT_EQ(static_cast<int>(model::Feature::reasoning), 13);
    EXPECT_EQ(static_cast<int>(model::Ineligible::region_forbidden), 7);
    EXPECT_EQ(static_cast<int>(model::Ineligible::all_replicas_unhealthy), 15);
}

}  // namespace
}  // namespace weir::telemetry
