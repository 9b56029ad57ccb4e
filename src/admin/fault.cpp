#include "admin/fault.h"

#include <utility>

namespace weir::admin {

ApiError error_of(http::Fault fault, std::string message) {
    switch (fault) {
        case http::Fault::malformed:
        case http::Fault::client_closed:
        case http::Fault::unsupported_version: break;
        case http::Fault::slow: return {.status = 408, .code = "request_timeout", .message = std::move(message)};
        case http::Fault::body_too_large:
            return {.status = 413, .code = "request_too_large", .message = std::move(message)};
        case http::Fault::head_too_large:
            return {.status = 431, .code = "header_too_large", .message = std::move(message)};
    }
    return {.status = 400, .code = "invalid_http", .message = std::move(message)};
}

}  // namespace weir::admin
