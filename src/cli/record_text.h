// A request's record as people read it on a terminal: every member that it has, under its name in the record.
// Pure. Source of the names: contract.md section 6.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace weir::cli {

// Errors: protocol, when the text is no JSON object.
[[nodiscard]] base::Result<std::string> record_text(std::string_view json);

}  // namespace weir::cli
