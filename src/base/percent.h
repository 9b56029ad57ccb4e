// Percent-encoding of URLs (RFC 3986 section 2.1). Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace weir::base {

// "%41" is "A"; a broken escape stays as it is.
[[nodiscard]] std::string percent_decoded(std::string_view text);
// Everything but letters, digits and "-._~" is escaped.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace weir::base
