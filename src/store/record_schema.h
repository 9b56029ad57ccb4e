// RecordSchema: how records are kept. A row has the columns that are asked for in quantity, and the record as JSON, the
// very line of the access log. The view `requests` shows every field of contract.md section 6 as a column, so that a
// query names fields and need not know which are stored. An absent value is NULL, never 0.
#pragma once

#include <string_view>

namespace weir::store {

// Migration 1: one column for each field.
inline constexpr std::string_view first_record_schema =
    R"(CREATE TABLE requests ("request_id" TEXT NOT NULL UNIQUE, "client_request_id" TEXT, "trace_id" TEXT, "time" TEXT NOT NULL, )"
    R"("config_version" TEXT, "tenant" TEXT, "team" TEXT, "application" TEXT, "key" TEXT, "workload" TEXT, "alias" TEXT, "endpoint" TEXT, )"
    R"("stream" INTEGER NOT NULL, "client_timeout_ms" REAL, "max_tokens" INTEGER, "features" TEXT NOT NULL, "temperature_class" TEXT, )"
    R"("pool" TEXT, "replica" TEXT, "region" TEXT, "engine_version" TEXT, "assigned_arm" TEXT, "decision" TEXT NOT NULL, "attempts" TEXT NOT NULL, )"
    R"("status" INTEGER NOT NULL, "outcome" TEXT NOT NULL, "reason" TEXT, "policy_outcome" TEXT, "prompt_bytes" INTEGER, "prompt_tokens" INTEGER, )"
    R"("cached_tokens" INTEGER, "completion_tokens" INTEGER, "reasoning_tokens" INTEGER, "delivered_tokens" INTEGER, "usage_source" TEXT NOT NULL, )"
    R"("finish_reason" TEXT, "queue_ms" REAL, "ttft_ms" REAL, "upstream_ttft_ms" REAL, "first_visible_ms" REAL, "tpot_ms" REAL, )"
    R"("duration_ms" REAL NOT NULL, "gateway_ms" REAL, "events" INTEGER, "spec" TEXT);CREATE INDEX requests_time ON requests (time))";

// Migration 2: what is asked for in quantity, the record, and the view. Rows lie in the order of their time, to the
// nanosecond and made unique by the next free one, so that a span of time is found without a further index. What is
// there is kept; json_patch leaves out what is NULL. (Virtual columns would do without the view, but SQLite computes
// them at every insert, at five times its cost.)
inline constexpr std::string_view second_record_schema = R"(
ALTER TABLE requests RENAME TO requests_1;
DROP INDEX requests_time;
CREATE TABLE request_records (
    "time_ns" INTEGER PRIMARY KEY, "request_id" TEXT NOT NULL UNIQUE, "tenant" TEXT, "team" TEXT,
    "application" TEXT, "key" TEXT, "alias" TEXT, "pool" TEXT, "status" INTEGER, "outcome" TEXT NOT NULL,
    "reason" TEXT, "prompt_tokens" INTEGER, "cached_tokens" INTEGER, "completion_tokens" INTEGER,
    "reasoning_tokens" INTEGER, "record" TEXT NOT NULL
);
INSERT INTO request_records (
    "time_ns", "request_id", "tenant", "team", "application", "key", "alias", "pool", "status", "outcome",
    "reason", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "record")
SELECT
    CAST(round((julianday("time") - 2440587.5) * 86400000) AS INTEGER) * 1000000 + rowid % 1000000,
    "request_id", "tenant", "team", "application", "key", "alias", "pool", "status", "outcome",
    "reason", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens",
    json_patch('{}', json_object(
    'request_id', "request_id", 'client_request_id', "client_request_id", 'trace_id', "trace_id",
    'time', "time", 'config_version', "config_version", 'tenant', "tenant", 'team', "team",
    'application', "application", 'key', "key", 'workload', "workload", 'alias', "alias",
    'endpoint', "endpoint", 'stream', json(CASE stream WHEN 1 THEN 'true' ELSE 'false' END),
    'client_timeout_ms', "client_timeout_ms", 'max_tokens', "max_tokens", 'features', json("features"),
    'temperature_class', "temperature_class", 'pool', "pool", 'replica', "replica", 'region', "region",
    'engine_version', "engine_version", 'assigned_arm', "assigned_arm", 'decision', json("decision"),
    'attempts', json("attempts"), 'status', "status", 'outcome', "outcome", 'reason', "reason",
    'policy_outcome', "policy_outcome", 'prompt_bytes', "prompt_bytes",
    'prompt_tokens', "prompt_tokens", 'cached_tokens', "cached_tokens",
    'completion_tokens', "completion_tokens", 'reasoning_tokens', "reasoning_tokens",
    'delivered_tokens', "delivered_tokens", 'usage_source', "usage_source",
    'finish_reason', "finish_reason", 'queue_ms', "queue_ms", 'ttft_ms', "ttft_ms",
    'upstream_ttft_ms', "upstream_ttft_ms", 'first_visible_ms', "first_visible_ms",
    'tpot_ms', "tpot_ms", 'duration_ms', "duration_ms", 'gateway_ms', "gateway_ms", 'events', "events",
    'spec', json("spec")))
FROM requests_1 ORDER BY rowid;
DROP TABLE requests_1;
CREATE VIEW requests AS SELECT
    "request_id", record ->> 'client_request_id' AS "client_request_id",
    record ->> 'trace_id' AS "trace_id", record ->> 'time' AS "time", record ->> 'config_version' AS "config_version", "tenant",
    "team", "application", "key", record ->> 'workload' AS "workload", "alias",
    record ->> 'endpoint' AS "endpoint", record ->> 'stream' AS "stream",
    record ->> 'client_timeout_ms' AS "client_timeout_ms", record ->> 'max_tokens' AS "max_tokens",
    record ->> 'features' AS "features", record ->> 'temperature_class' AS "temperature_class", "pool",
    record ->> 'replica' AS "replica", record ->> 'region' AS "region",
    record ->> 'engine_version' AS "engine_version", record ->> 'assigned_arm' AS "assigned_arm",
    record ->> 'decision' AS "decision", record ->> 'attempts' AS "attempts", "status", "outcome",
    "reason", record ->> 'policy_outcome' AS "policy_outcome", record ->> 'prompt_bytes' AS "prompt_bytes",
    "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens",
    record ->> 'delivered_tokens' AS "delivered_tokens", record ->> 'usage_source' AS "usage_source",
    record ->> 'finish_reason' AS "finish_reason", record ->> 'queue_ms' AS "queue_ms",
    record ->> 'ttft_ms' AS "ttft_ms", record ->> 'upstream_ttft_ms' AS "upstream_ttft_ms",
    record ->> 'first_visible_ms' AS "first_visible_ms", record ->> 'tpot_ms' AS "tpot_ms",
    record ->> 'duration_ms' AS "duration_ms", record ->> 'gateway_ms' AS "gateway_ms",
    record ->> 'events' AS "events", record ->> 'spec' AS "spec", "time_ns", "record"
FROM request_records)";

}  // namespace weir::store
