#include "admin/access.h"

#include "auth/presented_key.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/units.h"
#include "io/address.h"

#include <algorithm>

namespace weir::admin {

namespace {

using config::Role;

bool is_port(std::string_view text) noexcept {
    return text.size() <= 5 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Without port and brackets; empty when it is neither a name nor an address with one.
std::string_view name_in(std::string_view host) {
    const bool bracketed = host.starts_with('[');
    const auto end = host.find(bracketed ? ']' : ':');
    if (bracketed && end == std::string_view::npos) return {};
    const auto name = bracketed ? host.substr(1, end - 1) : host.substr(0, end);
    const auto rest = host.substr(std::min(host.size(), bracketed ? end + 1 : end));
    if (!rest.empty() && !(rest.front() == ':' && is_port(rest.substr(1)))) return {};
    return name;
}

}  // namespace

AccessRules access_rules(const config::Server& server, std::string_view bound_to) {
    AccessRules rules{.tokens = server.admin_tokens,
                      .hosts = server.admin_hosts,
                      .loopback_only = base::is_loopback(name_in(bound_to))};
    rules.hosts.push_back(server.admin_listen.host);
    return rules;
}

std::optional<Principal> authenticate(const AccessRules& rules, std::optional<std::string_view> authorization) {
    if (rules.tokens.empty()) {
        if (!rules.loopback_only) return std::nullopt;
        return Principal{.name = "local", .role = Role::admin};
    }
    const auto secret = auth::presented_key({.authorization = authorization, .x_api_key = std::nullopt});
    const auto digest = base::sha256(secret.value_or(""));
    const config::AdminToken* found = nullptr;
    for (const auto& token : rules.tokens)  // all of them: the time must not tell which one is near
        if (base::equal_in_constant_time(token.sha256, digest)) found = &token;
    if (!secret || found == nullptr) return std::nullopt;
    return Principal{.name = found->name, .role = found->role};
}

bool allows(Role role, Role needed) noexcept { return needed == Role::viewer || role == needed || role == Role::admin; }

bool host_allowed(const AccessRules& rules, std::string_view host) {
    const auto name = name_in(host);
    if (name.empty()) return false;
    if (base::is_loopback(base::to_lower(name))) return true;
    const auto is_name = [name](const std::string& known) { return base::equals_ignoring_case(known, name); };
    if (std::ranges::any_of(rules.hosts, is_name)) return true;
    return !rules.loopback_only && io::SocketAddress::parse(name, 0).has_value();
}

}  // namespace weir::admin
