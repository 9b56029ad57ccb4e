// Named keys: the key that an operator means by its name. Callers are authenticated by their secret; this is for tools
// only, and walks all keys. Pure.
#pragma once

#include "auth/key_table.h"
#include "base/result.h"
#include "base/time.h"

#include <optional>
#include <string_view>

namespace weir::gateway {

// Its texts are views of the table.
struct NamedKey {
    auth::Entry entry;
    bool alive = true;   // neither expired nor taken away
    bool usable = true;  // the configuration knows its tenant, team and application; else entry.tenant means nothing
    [[nodiscard]] bool works() const noexcept { return alive && usable; }
};

// `name` is NAME, or TENANT/NAME where several tenants have a key of that name. Of several keys of a tenant with the
// name (a rotation leaves two for a while) one that works is taken.
// Errors: not_found (with a suggestion), invalid_argument (several tenants have it).
[[nodiscard]] base::Result<NamedKey> find_named_key(const auth::KeyTable& keys, std::string_view name,
                                                    base::WallTime now);

// The only key there is; nullopt when there is none, or more than one.
[[nodiscard]] std::optional<NamedKey> only_key(const auth::KeyTable& keys, base::WallTime now);

}  // namespace weir::gateway
