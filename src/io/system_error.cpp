#include "io/system_error.h"

#include <cerrno>
#include <string>
#include <system_error>

namespace weir::io {
namespace {

std::string describe(std::string_view what, int error) {
    return std::string{what}.append(": ").append(std::generic_category().message(error));
}

}  // namespace

std::unexpected<base::Error> system_failure(std::string_view what) { return system_failure(what, errno); }

std::unexpected<base::Error> system_failure(std::string_view what, int error) {
    return base::fail(base::ErrorCode::unavailable, describe(what, error));
}

std::unexpected<base::Error> transfer_failure(std::string_view what, int error) {
    const bool ended = error == ECONNRESET || error == EPIPE || error == ECONNABORTED;
    return base::fail(ended ? base::ErrorCode::closed : base::ErrorCode::unavailable, describe(what, error));
}

}  // namespace weir::io
