// RecordJson: a RequestRecord as JSON with the names of contract.md section 6. What is not known is left out.
// Pure. Durations are milliseconds, in `…_ms` members and in attempts[].duration.
#pragma once

#include "base/json_writer.h"
#include "model/record.h"

#include <string>

namespace weir::telemetry {

// One object on one line, without the line's end: an access-log line.
[[nodiscard]] std::string to_json(const model::RequestRecord& record);

// The same into a writer that may be used again and again.
void write_record(base::JsonWriter& json, const model::RequestRecord& record);

// To the microsecond: "0.250". Not finite or out of range = null.
void write_milliseconds(base::JsonWriter& json, double value);

// Parts that are columns of their own in a store.
void write_features(base::JsonWriter& json, const model::RequestRecord& record);
void write_decision(base::JsonWriter& json, const model::DecisionRecord& decision);
void write_attempts(base::JsonWriter& json, const model::RequestRecord& record);
void write_speculation(base::JsonWriter& json, const model::SpeculationRecord& speculation);

}  // namespace weir::telemetry
