// DiscoveryTable: what probes found out about every replica; an immutable table that readers hold by shared pointer.
// DiscoveryBoard publishes it: any thread reads, the prober writes, a short mutex guards the pointer only.
#pragma once

#include "engine/probe.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace weir::control {

struct ReplicaName {
    std::string pool;
    std::string url;
    friend auto operator<=>(const ReplicaName&, const ReplicaName&) = default;
};

using DiscoveryTable = std::map<ReplicaName, engine::Discovery>;

class DiscoveryBoard {
public:
    using Snapshot = std::shared_ptr<const DiscoveryTable>;  // never null
    [[nodiscard]] Snapshot snapshot() const;
    void publish(DiscoveryTable next);

private:
    mutable std::mutex mutex_;
    Snapshot current_ = std::make_shared<const DiscoveryTable>();
};

}  // namespace weir::control
