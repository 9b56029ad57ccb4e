// What an operator's client is told about a message that is not a request. Pure.
#pragma once

#include "admin/api.h"
#include "http/message.h"

#include <string>

namespace weir::admin {

[[nodiscard]] ApiError error_of(http::Fault fault, std::string message);

}  // namespace weir::admin
