// For tests: a small valid configuration, and ways to change it and to see what is said about it.
#pragma once

#include "config/config.h"

#include <string>
#include <string_view>

namespace weir::config::testing {

// Two pools (the second speculates), one alias over both, one tenant with one key. Valid, without a warning.
[[nodiscard]] std::string valid_text();

// The valid text with the first `from` replaced; a test failure when it does not occur.
[[nodiscard]] std::string with(std::string_view from, std::string_view to);
[[nodiscard]] std::string with(std::string text, std::string_view from, std::string_view to);

// PRESENT=yes, EMPTY= and MULTI are variables; "secret.txt" holds "hunter2\n".
[[nodiscard]] Environment test_environment();

// The problems (or, of a valid text, the warnings) of a file called "f", formatted.
[[nodiscard]] std::string problems_of(std::string_view text);
[[nodiscard]] std::string warnings_of(std::string_view text);
// Of a text that must be valid.
[[nodiscard]] Config config_of(std::string_view text);

}  // namespace weir::config::testing
