// SocketAddress: an IPv4 or IPv6 address with a port, that needs no resolver. A value; any thread.
#pragma once

#include "base/result.h"

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::io {

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t length = 0;

    // "127.0.0.1", "::1" or "[::1]", "localhost" (which is 127.0.0.1). Errors: invalid_argument.
    [[nodiscard]] static base::Result<SocketAddress> parse(std::string_view host, std::uint16_t port);
    [[nodiscard]] std::string text() const;  // "127.0.0.1:8080", "[::1]:8080"
    [[nodiscard]] std::uint16_t port() const noexcept;
    [[nodiscard]] const sockaddr* raw() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
};

}  // namespace weir::io
