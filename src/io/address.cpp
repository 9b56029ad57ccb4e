#include "io/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

namespace weir::io {
namespace {

template <class Raw>
SocketAddress from_raw(const Raw& raw) noexcept {
    SocketAddress address;
    std::memcpy(&address.storage, &raw, sizeof raw);
    address.length = sizeof raw;
    return address;
}

template <class Raw>
Raw to_raw(const SocketAddress& address) noexcept {
    Raw raw{};
    std::memcpy(&raw, &address.storage, sizeof raw);
    return raw;
}

std::string_view without_brackets(std::string_view host) noexcept {
    const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
    return bracketed ? host.substr(1, host.size() - 2) : host;
}

}  // namespace

base::Result<SocketAddress> SocketAddress::parse(std::string_view host, std::uint16_t port) {
    const std::string numeric{host == "localhost" ? "127.0.0.1" : without_brackets(host)};
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    if (::inet_pton(AF_INET, numeric.c_str(), &v4.sin_addr) == 1) return from_raw(v4);
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    if (::inet_pton(AF_INET6, numeric.c_str(), &v6.sin6_addr) == 1) return from_raw(v6);
    return base::fail(base::ErrorCode::invalid_argument,
                      "'" + std::string{host} + "' is not a numeric IPv4 or IPv6 address (nor localhost)");
}

std::string SocketAddress::text() const {
    std::array<char, INET6_ADDRSTRLEN> host{};
    if (storage.ss_family == AF_INET) {
        const auto raw = to_raw<sockaddr_in>(*this);
        ::inet_ntop(AF_INET, &raw.sin_addr, host.data(), host.size());
        return std::string{host.data()} + ":" + std::to_string(port());
    }
    if (storage.ss_family == AF_INET6) {
        const auto raw = to_raw<sockaddr_in6>(*this);
        ::inet_ntop(AF_INET6, &raw.sin6_addr, host.data(), host.size());
        return "[" + std::string{host.data()} + "]:" + std::to_string(port());
    }
    return "unknown";
}

std::uint16_t SocketAddress::port() const noexcept {
    if (storage.ss_family == AF_INET) return ntohs(to_raw<sockaddr_in>(*this).sin_port);
    if (storage.ss_family == AF_INET6) return ntohs(to_raw<sockaddr_in6>(*this).sin6_port);
    return 0;
}

}  // namespace weir::io
