// Keys for tests: a valid default, of which a test states the difference.
#pragma once

#include "auth/key_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::auth::test {

inline constexpr base::WallTime noon{std::chrono::sys_days{std::chrono::year{2027} / 6 / 30} + std::chrono::hours{12}};

// Owns the texts of a row.
struct Key {
    std::string name;
    std::string secret;
    std::string tenant = "acme";
    std::string team = {};
    std::string application = {};
    std::string workload = {};
    model::PermissionSet permissions = {};
    std::optional<base::WallTime> expires = {};
    bool revoked = false;

    [[nodiscard]] model::KeyRow row() const {
        return {.digest = base::sha256(secret),
                .name = name,
                .scope = {.tenant = tenant, .team = team, .application = application, .workload = workload},
                .permissions = permissions,
                .expires = expires,
                .revoked = revoked};
    }
};

inline KeySet set_of(const std::vector<Key>& keys, Twins twins = Twins::last_wins) {
    KeySetBuilder builder;
    for (const auto& key : keys)
        builder.add(key.row());
    auto set = std::move(builder).build(twins);
    EXPECT_TRUE(set.has_value()) << (set ? "" : set.error().message());
    return set ? *std::move(set) : KeySet{};
}

// Knows the tenants acme (7) and globex (8).
inline Binding bind(const model::KeyScope& scope) {
    Binding binding{.workload = std::string{scope.workload}};
    if (scope.tenant == "acme") binding.tenant = 7;
    if (scope.tenant == "globex") binding.tenant = 8;
    return binding;
}

inline KeyLayer layer_of(const std::vector<Key>& keys) {
    return KeyLayer{std::make_shared<const KeySet>(set_of(keys)), bind};
}

}  // namespace weir::auth::test
