// Explanations for people: the answer first, then who asks for what, the pools with their reasons, and what to change.
// Made from the JSON form, so that it is the same offline and from a running gateway. Plain text, no colour. Pure.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace weir::cli {

struct ExplainText {
    std::string text;
    bool served = false;
};

// Errors: protocol when `json` is not an explanation (docs/explain.md).
[[nodiscard]] base::Result<ExplainText> explain_text(std::string_view json);

}  // namespace weir::cli
