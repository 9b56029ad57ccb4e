#include "cli/control_plane.h"

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

std::string text_of(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "an exception of an unknown type";
    }
}

}  // namespace

struct ControlPlane::State {
    State(std::unique_ptr<io::Reactor> own, control::DiscoveryBoard& board, ControlHooks given)
        : hooks{std::move(given)},
          reactor{std::move(own)},
          endpoint{hooks.render_metrics, hooks.readiness},
          server{*reactor, endpoint, {}},
          prober{*reactor, board, hooks.on_health_change,
                 [this](std::exception_ptr failure) { hooks.on_bug(text_of(failure)); }},
          tasks{*reactor, [this](std::exception_ptr failure) { hooks.on_bug(text_of(failure)); }} {}

    io::Task<void> finish() {
        co_await prober.stop();
        co_await server.finish_drain(reactor->now() + std::chrono::milliseconds{200});
        const auto slept = co_await reactor->sleep({.deadline = reactor->now() + std::chrono::milliseconds{1}});
        static_cast<void>(slept);
        reactor->stop();
    }

    ControlHooks hooks;
    std::unique_ptr<io::Reactor> reactor;
    admin::MetricsEndpoint endpoint;
    http::Server server;
    control::Prober prober;
    io::TaskGroup tasks;
    std::unique_ptr<io::Acceptor> acceptor;
    std::optional<io::ListenerSet> listener;  // holds the lock on the port while it is served
    std::shared_ptr<const gateway::Snapshot> snapshot;  // keeps the slots that the prober writes to
    std::jthread thread;
};

ControlPlane::ControlPlane(std::unique_ptr<State> state) : state_{std::move(state)} {}
ControlPlane::~ControlPlane() { stop(); }

base::Result<std::unique_ptr<ControlPlane>> ControlPlane::start(io::ListenerSet metrics_listener,
                                                                std::shared_ptr<const gateway::Snapshot> snapshot,
                                                                control::DiscoveryBoard& board, ControlHooks hooks) {
    auto reactor = io::Reactor::create();
    if (!reactor) return std::unexpected{std::move(reactor).error()};
    auto state = std::make_unique<State>(*std::move(reactor), board, std::move(hooks));
    state->acceptor =
        std::make_unique<io::Acceptor>(*state->reactor, metrics_listener.take(0),
                                       [target = state.get()](int accepted) { target->server.adopt(accepted); });
    state->listener = std::move(metrics_listener);
    auto plane = std::unique_ptr<ControlPlane>{new ControlPlane{std::move(state)}};
    plane->publish(std::move(snapshot));
    plane->state_->thread = std::jthread{[target = plane->state_.get()] {
        base::name_this_thread("weir-control");
        target->reactor->run();
    }};
    return plane;
}

void ControlPlane::publish(std::shared_ptr<const gateway::Snapshot> snapshot) {
    state_->reactor->post([target = state_.get(), next = std::move(snapshot)]() mutable {
        target->prober.set_targets(targets_of(*next));
        target->snapshot = std::move(next);
    });
}

void ControlPlane::stop() {
    if (!state_ || !state_->thread.joinable()) return;
    state_->reactor->post([target = state_.get()] {
        target->acceptor->drain_and_close();
        target->server.begin_drain();
        target->tasks.spawn(target->finish());
    });
    state_->thread.join();
}

}  // namespace weir::cli
