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

// The same for look-ups, which every request makes.
struct ReplicaNameView {
    std::string_view pool;
    std::string_view url;
    friend auto operator<=>(const ReplicaNameView&, const ReplicaNameView&) = default;
};
struct ReplicaNameOrder {
    using is_transparent = void;
    static ReplicaNameView view(const ReplicaName& name) noexcept { return {name.pool, name.url}; }
    static ReplicaNameView view(const ReplicaNameView& name) noexcept { return name; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const noexcept {
        return view(a) < view(b);
    }
};

using DiscoveryTable = std::map<ReplicaName, engine::Discovery, ReplicaNameOrder>;

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
