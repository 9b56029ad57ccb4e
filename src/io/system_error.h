// What a failed system call becomes: an Error that names the call and errno's text. Any thread.
#pragma once

#include "base/result.h"

#include <string_view>

namespace weir::io {

// ErrorCode::unavailable, "`what`: Too many open files". Reads errno.
[[nodiscard]] std::unexpected<base::Error> system_failure(std::string_view what);
[[nodiscard]] std::unexpected<base::Error> system_failure(std::string_view what, int error);
// The same, but ErrorCode::closed when the peer, or our own side, has ended the connection.
[[nodiscard]] std::unexpected<base::Error> transfer_failure(std::string_view what, int error);

}  // namespace weir::io
