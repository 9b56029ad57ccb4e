#include "store/record_columns.h"

#include "telemetry/record_json.h"

#include <array>
#include <optional>

namespace weir::store {

namespace {

using model::RequestRecord;

ColumnValue text(std::string_view value) {
    if (value.empty()) return std::monostate{};
    return std::string{value};
}

ColumnValue count(const std::optional<std::uint64_t>& value) {
    if (!value) return std::monostate{};
    return static_cast<std::int64_t>(*value);
}

ColumnValue real(const std::optional<double>& value) {
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
    Column{"request_id", "TEXT PRIMARY KEY NOT NULL", [](const RequestRecord& r) { return text(r.request_id); }},
    Column{"client_request_id", "TEXT", [](const RequestRecord& r) { return text(r.client_request_id); }},
    Column{"trace_id", "TEXT", [](const RequestRecord& r) { return text(r.trace_id); }},
    Column{"time", "TEXT NOT NULL", [](const RequestRecord& r) { return text(base::to_rfc3339(r.time)); }},
    Column{"config_version", "TEXT", [](const RequestRecord& r) { return text(r.config_version); }},
    Column{"tenant", "TEXT", [](const RequestRecord& r) { return text(r.caller.tenant); }},
    Column{"team", "TEXT", [](const RequestRecord& r) { return text(r.caller.team); }},
    Column{"application", "TEXT", [](const RequestRecord& r) { return text(r.caller.application); }},
    Column{"key", "TEXT", [](const RequestRecord& r) { return text(r.caller.key); }},
    Column{"workload", "TEXT", [](const RequestRecord& r) { return text(r.caller.workload); }},
    Column{"alias", "TEXT", [](const RequestRecord& r) { return text(r.alias); }},
    Column{"endpoint", "TEXT", [](const RequestRecord& r) { return text(r.endpoint ? model::name_of(*r.endpoint) : ""); }},
    Column{"stream", "INTEGER NOT NULL", [](const RequestRecord& r) { return ColumnValue{std::int64_t{r.stream}}; }},
    Column{"client_timeout_ms", "REAL", [](const RequestRecord& r) { return real(r.client_timeout_ms); }},
    Column{"max_tokens", "INTEGER", [](const RequestRecord& r) { return count(r.max_tokens); }},
    Column{"features", "TEXT NOT NULL", [](const RequestRecord& r) { return json([&r](auto& w) { telemetry::write_features(w, r); }); }},
    Column{"temperature_class", "TEXT", [](const RequestRecord& r) { return text(r.temperature_class); }},
    Column{"pool", "TEXT", [](const RequestRecord& r) { return text(r.pool); }},
    Column{"replica", "TEXT", [](const RequestRecord& r) { return text(r.replica); }},
    Column{"region", "TEXT", [](const RequestRecord& r) { return text(r.region); }},
    Column{"engine_version", "TEXT", [](const RequestRecord& r) { return text(r.engine_version); }},
    Column{"assigned_arm", "TEXT", [](const RequestRecord& r) { return text(r.assigned_arm); }},
    Column{"decision", "TEXT NOT NULL", [](const RequestRecord& r) { return json([&r](auto& w) { telemetry::write_decision(w, r.decision); }); }},
    Column{"attempts", "TEXT NOT NULL", [](const RequestRecord& r) { return json([&r](auto& w) { telemetry::write_attempts(w, r); }); }},
    Column{"status", "INTEGER NOT NULL", [](const RequestRecord& r) { return ColumnValue{std::int64_t{r.status}}; }},
    Column{"outcome", "TEXT NOT NULL", [](const RequestRecord& r) { return text(model::name_of(r.outcome)); }},
    Column{"reason", "TEXT", [](const RequestRecord& r) { return text(r.reason ? model::name_of(*r.reason) : ""); }},
    Column{"policy_outcome", "TEXT", [](const RequestRecord& r) { return text(r.policy_outcome); }},
    Column{"prompt_bytes", "INTEGER", [](const RequestRecord& r) { return count(r.prompt_bytes); }},
    Column{"prompt_tokens", "INTEGER", [](const RequestRecord& r) { return count(r.prompt_tokens); }},
    Column{"cached_tokens", "INTEGER", [](const RequestRecord& r) { return count(r.cached_tokens); }},
    Column{"completion_tokens", "INTEGER", [](const RequestRecord& r) { return count(r.completion_tokens); }},
    Column{"reasoning_tokens", "INTEGER", [](const RequestRecord& r) { return count(r.reasoning_tokens); }},
    Column{"delivered_tokens", "INTEGER", [](const RequestRecord& r) { return count(r.delivered_tokens); }},
    Column{"usage_source", "TEXT NOT NULL", [](const RequestRecord& r) { return text(model::name_of(r.usage_source)); }},
    Column{"finish_reason", "TEXT", [](const RequestRecord& r) { return text(r.finish_reason); }},
    Column{"queue_ms", "REAL", [](const RequestRecord& r) { return real(r.queue_ms); }},
    Column{"ttft_ms", "REAL", [](const RequestRecord& r) { return real(r.ttft_ms); }},
    Column{"upstream_ttft_ms", "REAL", [](const RequestRecord& r) { return real(r.upstream_ttft_ms); }},
    Column{"first_visible_ms", "REAL", [](const RequestRecord& r) { return real(r.first_visible_ms); }},
    Column{"tpot_ms", "REAL", [](const RequestRecord& r) { return real(r.tpot_ms); }},
    Column{"duration_ms", "REAL NOT NULL", [](const RequestRecord& r) { return real(r.duration_ms); }},
    Column{"gateway_ms", "REAL", [](const RequestRecord& r) { return real(r.gateway_ms); }},
    Column{"events", "INTEGER", [](const RequestRecord& r) { return count(r.events); }},
    Column{"spec", "TEXT", [](const RequestRecord& r) {
        return r.spec.source.empty() ? ColumnValue{} : json([&r](auto& w) { telemetry::write_speculation(w, r.spec); });
    }},
};

}  // namespace

std::span<const Column> record_columns() noexcept { return columns; }

std::string create_requests_sql() {
    std::string sql = "CREATE TABLE requests (";
    for (const auto& column : columns) {
        if (sql.back() != '(') sql += ", ";
        sql.append("\"").append(column.name).append("\" ").append(column.type);
    }
    return sql + ") WITHOUT ROWID";
}

std::string insert_request_sql() {
    std::string names, marks;
    for (const auto& column : columns) {
        names.append(names.empty() ? "" : ", ").append("\"").append(column.name).append("\"");
        marks.append(marks.empty() ? "?" : ", ?");
    }
    return "INSERT INTO requests (" + names + ") VALUES (" + marks + ") ON CONFLICT (request_id) DO NOTHING";
}

}  // namespace weir::store
