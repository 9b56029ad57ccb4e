// Types of a pool's replicas: addresses of engines, as a list or as one name to resolve. Internal to config.
#pragma once

#include "base/result.h"
#include "config/pool.h"
#include "config/schema.h"

#include <string_view>

namespace weir::config {

// "http://HOST:PORT" with at most a slash behind it; the message says what else it has that cannot be.
[[nodiscard]] base::Result<ReplicaUrl> parse_replica_url(std::string_view text);

// A list of such addresses, or {dns: URL}.
[[nodiscard]] Type<Replicas> replicas();

}  // namespace weir::config
