// Access: who may use the admin API, what their role allows, and under which names it may be called. Pure.
// Invariant: without a token nobody gets in, unless the API is bound to a loopback address, where whoever reaches it is
// the administrator. Tokens are kept as digests and compared in constant time. Source: contract.md section 4.
#pragma once

#include "config/server.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::admin {

struct AccessRules {
    std::vector<config::AdminToken> tokens;
    std::vector<std::string> hosts;  // names under which it may be called, beside loopback ones
    bool loopback_only = false;  // where it is bound, which a reload does not change
};

// `bound_to` is the address that listens, without its port.
[[nodiscard]] AccessRules access_rules(const config::Server& server, std::string_view bound_to);

// Who acts.
struct Principal {
    std::string name;  // the token's; "local" without one
    config::Role role = config::Role::viewer;
};

// `authorization` is the request's only field of that name; nullopt when there is none, or more than one.
[[nodiscard]] std::optional<Principal> authenticate(const AccessRules& rules,
                                                    std::optional<std::string_view> authorization);

// Everybody may what a viewer may, an administrator everything; operators and approvers nothing of each other's.
[[nodiscard]] bool allows(config::Role role, config::Role needed) noexcept;

// A page that a browser loaded from elsewhere calls us by its own name, even when that name resolves to this machine
// (DNS rebinding). `host` is the Host field: "localhost:8081". Addresses cannot be rebound: off loopback any will do.
[[nodiscard]] bool host_allowed(const AccessRules& rules, std::string_view host);

}  // namespace weir::admin
