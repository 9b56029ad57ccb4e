// Telemetry settings: the access log, traces, metric names and labels.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weir::config {

struct AccessLog {
    std::string path = "-";  // "-" = standard output, "off" = none
};

struct Otlp {
    std::string endpoint;  // "http://host:port"
    double sample = 1.0;   // share of requests, 0..1
};

struct Telemetry {
    AccessLog access_log;
    std::optional<Otlp> otlp;
    bool genai_names = false;              // the latencies under OpenTelemetry GenAI names too
    std::vector<std::string> drop_labels;  // base labels left out of the metrics, to bound their number
};

}  // namespace weir::config
