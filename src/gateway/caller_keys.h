// CallerKeys: the configuration's side of authentication: its own keys, and what it makes of whom a key belongs to.
#pragma once

#include "auth/key_table.h"
#include "base/result.h"
#include "gateway/snapshot.h"

#include <memory>

namespace weir::gateway {

// Errors: invalid_argument when two keys have one secret (names both; the configuration's own check comes first).
[[nodiscard]] base::Result<auth::KeySet> configured_keys(const config::Config& config);

// A binding's tenant indexes `snapshot->tenants`. A tenant, team or application that is not configured makes the
// binding unusable: its limits and policy are not known.
[[nodiscard]] auth::Binder key_binder(std::shared_ptr<const Snapshot> snapshot);

}  // namespace weir::gateway
