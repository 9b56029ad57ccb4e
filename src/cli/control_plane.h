// ControlPlane: the control thread: one reactor with the replica prober, the metrics listener and the admin listener.
// Threads: start(), publish() and stop() from the composition root's; the functions it is given run on its own.
#pragma once

#include "admin/api.h"
#include "admin/metrics_endpoint.h"
#include "base/result.h"
#include "control/discovery_table.h"
#include "control/prober.h"
#include "gateway/snapshot.h"
#include "io/listener.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir::cli {

struct ControlHooks {
    std::function<std::string()> render_metrics;
    std::function<admin::Readiness()> readiness;
    std::function<void(const control::HealthChange&)> on_health_change;
    std::function<void(const std::string&)> on_bug;
    std::vector<admin::Route> admin_routes;
};

struct ControlListeners {
    io::ListenerSet metrics;
    io::ListenerSet admin;
};

class ControlPlane {
public:
    [[nodiscard]] static base::Result<std::unique_ptr<ControlPlane>> start(
        ControlListeners listeners, std::shared_ptr<const gateway::Snapshot> snapshot, control::DiscoveryBoard& board,
        ControlHooks hooks);
    ControlPlane(const ControlPlane&) = delete;
    ControlPlane& operator=(const ControlPlane&) = delete;
    ~ControlPlane();  // stop()

    // Probes the replicas of this snapshot from now on, and admits whom it names to the admin API.
    void publish(std::shared_ptr<const gateway::Snapshot> snapshot);
    void stop();

private:
    struct State;
    explicit ControlPlane(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace weir::cli
