// KeyRow: what the store tells of one secret of one key. Views are valid during the call that hands the row over.
#pragma once

#include "base/sha256.h"
#include "base/time.h"
#include "model/caller.h"

#include <optional>
#include <string_view>

namespace weir::model {

// Whom a key belongs to; "" = none.
struct KeyScope {
    std::string_view tenant;
    std::string_view team;
    std::string_view application;
    std::string_view workload;  // "" = the application's
    friend bool operator==(const KeyScope&, const KeyScope&) = default;
};

struct KeyRow {
    base::Sha256Digest digest{};  // of the secret
    std::string_view name;        // of the key, never the secret
    KeyScope scope;
    PermissionSet permissions;
    std::optional<base::WallTime> expires;  // the first moment at which the secret no longer works; nullopt = never
    bool revoked = false;
};

}  // namespace weir::model
