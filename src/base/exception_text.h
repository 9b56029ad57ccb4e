// What an exception says, for the log of a bug. Source: style guide, "exceptions are for bugs".
#pragma once

#include <exception>
#include <string>

namespace weir::base {

// `failure` is not null.
[[nodiscard]] std::string text_of(const std::exception_ptr& failure);

}  // namespace weir::base
