#include "config/telemetry.h"

#include "config/tables.h"
#include "config/types.h"

namespace weir::config {

namespace {

const Table<AccessLog>& access_log_table() {
    static const Table<AccessLog> table{
        field("path", &AccessLog::path, text(),
              "A file for one JSON line per request; - is standard output, off is none."),
    };
    return table;
}

// The exporter appends the signal's path itself.
Type<std::string> collector_url() {
    auto type = text();
    type.read = [read = type.read](Reader& reader, const base::Node& node, std::string& out) {
        if (!read(reader, node, out)) return false;
        const std::string_view url = out;
        const bool good =
            (url.starts_with("http://") && url.size() > 7) || (url.starts_with("https://") && url.size() > 8);
        return good || reader.refuse(node, "expected the collector's address, such as http://127.0.0.1:4318");
    };
    return type;
}

const Table<Otlp>& otlp_table() {
    static const Table<Otlp> table{
        required(field("endpoint", &Otlp::endpoint, collector_url(), "The collector's OTLP/HTTP address.")),
        field("sample", &Otlp::sample, number({0, 1}), "The share of requests that are traced."),
    };
    return table;
}

Choices<std::string> label_choices() {
    Choices<std::string> choices;
    for (const std::string_view label :
         {"tenant", "team", "application", "workload", "alias", "pool", "endpoint", "stream"})
        choices.emplace_back(label, label);
    return choices;
}

}  // namespace

const Table<Telemetry>& telemetry_table() {
    static const Table<Telemetry> table{
        field("access_log", &Telemetry::access_log, object(access_log_table()), "The access log."),
        field("otlp", &Telemetry::otlp, object(otlp_table()),
              "Traces to an OpenTelemetry collector; none when absent."),
        field("genai_names", &Telemetry::genai_names, boolean(), "Latencies under the OpenTelemetry GenAI names too."),
        field("drop_labels", &Telemetry::drop_labels, list(choice(label_choices())),
              "Base labels that are left out of the metrics, to bound their number."),
    };
    return table;
}

}  // namespace weir::config
