#include "store/record_columns.h"

#include "telemetry/record_json.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace weir::store {

namespace {

using model::RequestRecord;

ColumnValue text(std::string_view value) {
    if (value.empty()) return std::monostate{};
    return value;
}

ColumnValue count(const std::optional<std::uint64_t>& value) {
    if (!value) return std::monostate{};
    return static_cast<std::int64_t>(*value);
}

ColumnValue milliseconds(const std::optional<double>& value) {
    if (!value) return std::monostate{};
    return *value;
}

template <class Write>
ColumnValue json(Write write) {
    base::JsonWriter writer;
    write(writer);
    return std::move(writer).take();
}

constexpr std::array columns{
    Column{"request_id", ColumnKind::text, [](const RequestRecord& r) { return text(r.request_id); }, true},
    Column{"client_request_id", ColumnKind::text, [](const RequestRecord& r) { return text(r.client_request_id); }},
    Column{"trace_id", ColumnKind::text, [](const RequestRecord& r) { return text(r.trace_id); }},
    Column{"time", ColumnKind::text, [](const RequestRecord& r) { return ColumnValue{base::to_rfc3339(r.time)}; },
           true},
    Column{"config_version", ColumnKind::text, [](const RequestRecord& r) { return text(r.config_version); }},
    Column{"tenant", ColumnKind::text, [](const RequestRecord& r) { return text(r.caller.tenant); }},
    Column{"team", ColumnKind::text, [](const RequestRecord& r) { return text(r.caller.team); }},
    Column{"application", ColumnKind::text, [](const RequestRecord& r) { return text(r.caller.application); }},
    Column{"key", ColumnKind::text, [](const RequestRecord& r) { return text(r.caller.key); }},
    Column{"workload", ColumnKind::text, [](const RequestRecord& r) { return text(r.caller.workload); }},
    Column{"alias", ColumnKind::text, [](const RequestRecord& r) { return text(r.alias); }},
    Column{"endpoint", ColumnKind::text,
           [](const RequestRecord& r) { return text(r.endpoint ? model::name_of(*r.endpoint) : ""); }},
    Column{"stream", ColumnKind::boolean, [](const RequestRecord& r) { return ColumnValue{std::int64_t{r.stream}}; },
           true},
    Column{"client_timeout_ms", ColumnKind::milliseconds,
           [](const RequestRecord& r) { return milliseconds(r.client_timeout_ms); }},
    Column{"max_tokens", ColumnKind::integer, [](const RequestRecord& r) { return count(r.max_tokens); }},
    Column{"features", ColumnKind::json,
           [](const RequestRecord& r) { return json([&r](auto& w) { telemetry::write_features(w, r); }); }, true},
    Column{"temperature_class", ColumnKind::text, [](const RequestRecord& r) { return text(r.temperature_class); }},
    Column{"pool", ColumnKind::text, [](const RequestRecord& r) { return text(r.pool); }},
    Column{"replica", ColumnKind::text, [](const RequestRecord& r) { return text(r.replica); }},
    Column{"region", ColumnKind::text, [](const RequestRecord& r) { return text(r.region); }},
    Column{"engine_version", ColumnKind::text, [](const RequestRecord& r) { return text(r.engine_version); }},
    Column{"assigned_arm", ColumnKind::text, [](const RequestRecord& r) { return text(r.assigned_arm); }},
    Column{"decision", ColumnKind::json,
           [](const RequestRecord& r) { return json([&r](auto& w) { telemetry::write_decision(w, r.decision); }); },
           true},
    Column{"attempts", ColumnKind::json,
           [](const RequestRecord& r) { return json([&r](auto& w) { telemetry::write_attempts(w, r); }); }, true},
    Column{"status", ColumnKind::integer, [](const RequestRecord& r) { return ColumnValue{std::int64_t{r.status}}; },
           true},
    Column{"outcome", ColumnKind::text, [](const RequestRecord& r) { return text(model::name_of(r.outcome)); }, true},
    Column{"reason", ColumnKind::text,
           [](const RequestRecord& r) { return text(r.reason ? model::name_of(*r.reason) : ""); }},
    Column{"policy_outcome", ColumnKind::text, [](const RequestRecord& r) { return text(r.policy_outcome); }},
    Column{"prompt_bytes", ColumnKind::integer, [](const RequestRecord& r) { return count(r.prompt_bytes); }},
    Column{"prompt_tokens", ColumnKind::integer, [](const RequestRecord& r) { return count(r.prompt_tokens); }},
    Column{"cached_tokens", ColumnKind::integer, [](const RequestRecord& r) { return count(r.cached_tokens); }},
    Column{"completion_tokens", ColumnKind::integer, [](const RequestRecord& r) { return count(r.completion_tokens); }},
    Column{"reasoning_tokens", ColumnKind::integer, [](const RequestRecord& r) { return count(r.reasoning_tokens); }},
    Column{"delivered_tokens", ColumnKind::integer, [](const RequestRecord& r) { return count(r.delivered_tokens); }},
    Column{"usage_source", ColumnKind::text,
           [](const RequestRecord& r) { return text(model::name_of(r.usage_source)); }, true},
    Column{"finish_reason", ColumnKind::text, [](const RequestRecord& r) { return text(r.finish_reason); }},
    Column{"queue_ms", ColumnKind::milliseconds, [](const RequestRecord& r) { return milliseconds(r.queue_ms); }},
    Column{"ttft_ms", ColumnKind::milliseconds, [](const RequestRecord& r) { return milliseconds(r.ttft_ms); }},
    Column{"upstream_ttft_ms", ColumnKind::milliseconds,
           [](const RequestRecord& r) { return milliseconds(r.upstream_ttft_ms); }},
    Column{"first_visible_ms", ColumnKind::milliseconds,
           [](const RequestRecord& r) { return milliseconds(r.first_visible_ms); }},
    Column{"tpot_ms", ColumnKind::milliseconds, [](const RequestRecord& r) { return milliseconds(r.tpot_ms); }},
    Column{"duration_ms", ColumnKind::milliseconds, [](const RequestRecord& r) { return milliseconds(r.duration_ms); },
           true},
    Column{"gateway_ms", ColumnKind::milliseconds, [](const RequestRecord& r) { return milliseconds(r.gateway_ms); }},
    Column{"events", ColumnKind::integer, [](const RequestRecord& r) { return count(r.events); }},
    Column{"spec", ColumnKind::json,
           [](const RequestRecord& r) {
               return r.spec.source.empty() ? ColumnValue{}
                                            : json([&r](auto& w) { telemetry::write_speculation(w, r.spec); });
           }},
};

std::string_view sql_type(ColumnKind kind) noexcept {
    switch (kind) {
        case ColumnKind::text:
        case ColumnKind::json: return "TEXT";
        case ColumnKind::integer:
        case ColumnKind::boolean: return "INTEGER";
        case ColumnKind::milliseconds: return "REAL";
    }
    return "TEXT";
}

std::string quoted(std::string_view name) { return "\"" + std::string{name} + "\""; }

std::string definition(const Column& column) {
    std::string text = quoted(column.name) + " " + std::string{sql_type(column.kind)};
    if (column.required) text += " NOT NULL";
    if (&column == columns.data()) text += " UNIQUE";
    return text;
}

std::string definitions(int since) {
    std::string text;
    for (const auto& column : columns)
        if (column.since == since) text += (text.empty() ? "" : ", ") + definition(column);
    return text;
}

std::string names() {
    std::string text;
    for (const auto& column : columns)
        text += (text.empty() ? "" : ", ") + quoted(column.name);
    return text;
}

}  // namespace

std::span<const Column> record_columns() noexcept { return columns; }

std::vector<std::string> record_migrations() {
    std::vector<std::string> migrations{"CREATE TABLE requests (" + definitions(1) +
                                        ");CREATE INDEX requests_time ON requests (time)"};
    const int newest = std::ranges::max(columns, {}, &Column::since).since;
    for (int number = 2; number <= newest; ++number) {
        std::string sql;
        for (const auto& column : columns)
            if (column.since == number) sql += "ALTER TABLE requests ADD COLUMN " + definition(column) + ";";
        migrations.push_back(std::move(sql));
    }
    return migrations;
}

std::string insert_record_sql() {
    std::string marks = "?";
    for (std::size_t i = 1; i < columns.size(); ++i)
        marks += ", ?";
    return "INSERT INTO requests (" + names() + ") VALUES (" + marks + ") ON CONFLICT (request_id) DO NOTHING";
}

std::string select_record_sql() { return "SELECT " + names() + " FROM requests WHERE request_id = ?"; }

}  // namespace weir::store
