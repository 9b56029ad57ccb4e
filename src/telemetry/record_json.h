// RecordJson: a RequestRecord as JSON with the names of contract.md section 6. What is not known is left out; of an
// interrupted request nothing is known that came after its authentication.
// Pure. Durations are milliseconds, in `…_ms` members and in attempts[].duration.
#pragma once

#include "model/record.h"

#include <string>

namespace weir::telemetry {

// One object on one line, without the line's end: an access-log line.
[[nodiscard]] std::string to_json(const model::RequestRecord& record);

// The same behind what is there.
void append_json(std::string& out, const model::RequestRecord& record);

// To the microsecond: "0.250". Not finite or out of range = null.
void append_milliseconds(std::string& out, double value);

}  // namespace weir::telemetry
