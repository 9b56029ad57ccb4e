#include "base/units.h"
#include "config/check.h"

#include <array>
#include <unordered_map>

namespace weir::config {

namespace {

bool is_wildcard(const std::string& host) noexcept { return host == "0.0.0.0" || host == "::"; }

bool collide(const base::HostPort& a, const base::HostPort& b) noexcept {
    if (a.port == 0 || a.port != b.port) return false;
    return a.host == b.host || is_wildcard(a.host) || is_wildcard(b.host);
}

void check_listeners(const Check& check) {
    const auto& server = check.config.server;
    const std::array<std::pair<const char*, const base::HostPort*>, 3> listeners{
        {{"listen", &server.listen},
         {"admin_listen", &server.admin_listen},
         {"metrics_listen", &server.metrics_listen}}};
    for (std::size_t later = 1; later < listeners.size(); ++later)
        for (std::size_t earlier = 0; earlier < later; ++earlier) {
            const auto& [name, address] = listeners[later];
            if (!collide(*address, *listeners[earlier].second)) continue;
            check.refuse({"server", name},
                         base::format_host_port(*address) + " is taken by " + listeners[earlier].first);
        }
    if (!base::is_loopback(server.admin_listen.host) && server.admin_tokens.empty())
        check.refuse({"server", "admin_listen"},
                     "without admin_tokens the admin API listens on a loopback address only");
}

void check_admin_tokens(const Check& check) {
    std::unordered_map<std::string, std::size_t> names;
    std::unordered_map<base::Sha256Digest, std::size_t, base::Sha256Hash> digests;
    const auto& tokens = check.config.server.admin_tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const auto& token = tokens[i];
        const auto at = std::to_string(i);
        if (!token.name.empty() && !names.try_emplace(token.name, i).second)
            check.refuse({"server", "admin_tokens", at, "name"}, "another token has this name");
        if (token.sha256 != base::Sha256Digest{} && !digests.try_emplace(token.sha256, i).second)
            check.refuse({"server", "admin_tokens", at, "sha256"}, "another token is the same secret");
    }
}

}  // namespace

void check_server(const Check& check) {
    check_listeners(check);
    check_admin_tokens(check);
    const auto& limits = check.config.server.limits;
    if (limits.buffered_bytes < limits.body_bytes)
        check.refuse({"server", "limits", "buffered_bytes"},
                     "must be at least limits.body, or no full body could ever be held");
}

}  // namespace weir::config
