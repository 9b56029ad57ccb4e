// Server settings: listeners, limits, drain, TLS, who may use the admin API. The table in server.cpp has range, unit
// and one sentence for each key.
#pragma once

#include "base/sha256.h"
#include "base/time.h"
#include "base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::config {

struct Tls {
    std::string certificate_path;
    std::string key_path;
};

struct Drain {
    base::Nanoseconds delay{0};                           // readyz says 503 while connections are still accepted
    base::Nanoseconds timeout{std::chrono::seconds{30}};  // what is in flight gets this long
};

struct ServerLimits {
    std::uint64_t body_bytes = 32ULL << 20U;           // one request body
    std::uint64_t header_bytes = 32ULL << 10U;         // one request head
    std::uint64_t response_body_bytes = 64ULL << 20U;  // one buffered (not streamed) response
    base::Nanoseconds header_timeout{std::chrono::seconds{10}};
    base::Nanoseconds body_timeout{std::chrono::seconds{60}};
    base::Nanoseconds idle_timeout{std::chrono::seconds{75}};  // between requests of one connection
    base::Nanoseconds write_stall_timeout{std::chrono::seconds{30}};
    std::uint32_t connections = 20000;
    std::uint64_t buffered_bytes = 1ULL << 30U;  // all bodies held at once, process-wide
};

enum class Role : std::uint8_t { viewer, operator_, approver, admin };
[[nodiscard]] std::string_view name_of(Role role) noexcept;

struct AdminToken {
    std::string name;
    base::Sha256Digest sha256{};
    Role role = Role::viewer;
};

struct Server {
    base::HostPort listen;
    base::HostPort admin_listen{"127.0.0.1", 8081};
    base::HostPort metrics_listen{"127.0.0.1", 9464};
    std::uint32_t workers = 0;  // 0 = auto: one per core
    Drain drain;
    std::optional<Tls> tls;
    ServerLimits limits;
    std::vector<AdminToken> admin_tokens;
    std::vector<std::string> admin_hosts;  // further names under which the admin API may be called
};

}  // namespace weir::config
