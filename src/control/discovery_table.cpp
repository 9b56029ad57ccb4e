#include "control/discovery_table.h"

namespace weir::control {

DiscoveryBoard::Snapshot DiscoveryBoard::snapshot() const {
    const std::scoped_lock lock{mutex_};
    return current_;
}

void DiscoveryBoard::publish(DiscoveryTable next) {
    // Declared before the lock: the old table, if this was its last holder, is destroyed after the lock is released.
    auto fresh = std::make_shared<const DiscoveryTable>(std::move(next));
    const std::scoped_lock lock{mutex_};
    current_.swap(fresh);
}

}  // namespace weir::control
