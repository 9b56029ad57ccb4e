#include "cli/control_plane.h"

#include "admin/admin_endpoint.h"
#include "base/exception_text.h"
#include "base/thread_name.h"
#include "http/server.h"
#include "io/reactor.h"
#include "io/task_group.h"

#include <optional>
#include <thread>
#include <vector>

namespace weir::cli {

namespace {

std::vector<control::ProbeTarget> targets_of(const gateway::Snapshot& snapshot) {
    std::vector<control::ProbeTarget> targets;
    for (const auto& pool : snapshot.pools)
        for (const auto& replica : pool.replicas)
            targets.push_back({.name = {.pool = pool.config->name, .url = replica.url},
                               .origin = replica.origin,
                               .engine = pool.config->engine,
                               .credential = pool.config->credential,
                               .interval = pool.config->health.interval,
                               .timeout = pool.config->timeouts.connect,
                               .slot = replica.slot});
    return targets;
}

}  // namespace

// A listener of the control thread with the server behind it.
struct Service {
    Service(io::Reactor& reactor, http::Handler& handler, const http::ServerLimits& limits)
        : server{reactor, handler, limits} {}

    // A connection that is one too many is handed to `turn_away`.
    void listen(io::Reactor& reactor, io::ListenerSet from, std::size_t max_connections, void (*turn_away)(int)) {
        acceptor =
            std::make_unique<io::Acceptor>(reactor, from.take(0), [this, max_connections, turn_away](int accepted) {
                if (server.connections() >= max_connections)
                    turn_away(accepted);
                else
                    server.adopt(accepted);
            });
        listener = std::move(from);
    }
    void begin_drain() {
        acceptor->drain_and_close();
        server.begin_drain();
    }

    http::Server server;
    std::unique_ptr<io::Acceptor> acceptor;
    std::optional<io::ListenerSet> listener;  // holds the lock on the port while it is served
};

struct ControlPlane::State {
    State(std::unique_ptr<io::Reactor> own, control::DiscoveryBoard& board, ControlHooks given)
        : hooks{std::move(given)},
          reactor{std::move(own)},
          metrics_endpoint{hooks.render_metrics, hooks.readiness},
          metrics{*reactor, metrics_endpoint, {}},
          admin_endpoint{std::move(hooks.admin_routes), {}, hooks.on_bug},
          admin{*reactor, admin_endpoint, {}},
          prober{*reactor, board, hooks.on_health_change,
                 [this](std::exception_ptr failure) { hooks.on_bug(base::text_of(failure)); }},
          tasks{*reactor, [this](std::exception_ptr failure) { hooks.on_bug(base::text_of(failure)); }} {}

    void listen(ControlListeners listeners) {
        admin_address = listeners.admin.address().text();
        metrics.listen(*reactor, std::move(listeners.metrics), admin::max_connections, admin::turn_away);
        admin.listen(*reactor, std::move(listeners.admin), admin::max_connections, admin::turn_away);
    }
    void adopt(std::shared_ptr<const gateway::Snapshot> next) {
        const auto& server = next->config.server;
        admin_endpoint.set_rules(admin::access_rules(server, admin_address));
        admin.server.set_limits(admin::server_limits(server.limits.body_bytes));
        prober.set_targets(targets_of(*next));
        snapshot = std::move(next);
    }
    io::Task<void> finish() {
        const auto deadline = reactor->now() + std::chrono::milliseconds{200};
        co_await prober.stop();
        co_await metrics.server.finish_drain(deadline);
        co_await admin.server.finish_drain(deadline);
        const auto slept = co_await reactor->sleep({.deadline = reactor->now() + std::chrono::milliseconds{1}});
        static_cast<void>(slept);
        reactor->stop();
    }

    ControlHooks hooks;
    std::unique_ptr<io::Reactor> reactor;
    admin::MetricsEndpoint metrics_endpoint;
    Service metrics;
    admin::AdminEndpoint admin_endpoint;  // admits nobody until adopt()
    Service admin;
    control::Prober prober;
    io::TaskGroup tasks;
    std::string admin_address;  // as it is bound
    std::shared_ptr<const gateway::Snapshot> snapshot;  // keeps the slots that the prober writes to
    std::jthread thread;
};

ControlPlane::ControlPlane(std::unique_ptr<State> state) : state_{std::move(state)} {}
ControlPlane::~ControlPlane() { stop(); }

base::Result<std::unique_ptr<ControlPlane>> ControlPlane::start(ControlListeners listeners,
                                                                std::shared_ptr<const gateway::Snapshot> snapshot,
                                                                control::DiscoveryBoard& board, ControlHooks hooks) {
    auto reactor = io::Reactor::create();
    if (!reactor) return std::unexpected{std::move(reactor).error()};
    auto state = std::make_unique<State>(*std::move(reactor), board, std::move(hooks));
    state->listen(std::move(listeners));
    auto plane = std::unique_ptr<ControlPlane>{new ControlPlane{std::move(state)}};
    plane->publish(std::move(snapshot));
    plane->state_->thread = std::jthread{[target = plane->state_.get()] {
        base::name_this_thread("weir-control");
        target->reactor->run();
    }};
    return plane;
}

void ControlPlane::publish(std::shared_ptr<const gateway::Snapshot> snapshot) {
    state_->reactor->post(
        [target = state_.get(), next = std::move(snapshot)]() mutable { target->adopt(std::move(next)); });
}

void ControlPlane::stop() {
    if (!state_ || !state_->thread.joinable()) return;
    state_->reactor->post([target = state_.get()] {
        target->metrics.begin_drain();
        target->admin.begin_drain();
        target->tasks.spawn(target->finish());
    });
    state_->thread.join();
}

}  // namespace weir::cli
