#include "sim/simulator.h"

#include "base/random.h"
#include "http/server.h"
#include "io/listener.h"
#include "io/reactor.h"
#include "io/task_group.h"
#include "sim/handler.h"
#include "sim/runner.h"

#include <chrono>
#include <exception>
#include <utility>

namespace weir::sim {
namespace {

using namespace std::chrono_literals;

http::ServerLimits server_limits() {
    http::ServerLimits limits;
    limits.header_bytes = 64 * 1024;
    limits.idle_timeout = 300'000ms;  // longer than any gateway keeps an idle connection
    limits.write_stall_timeout = 300'000ms;
    return limits;
}

}  // namespace

struct Simulator::State {
    State(std::unique_ptr<io::Reactor> loop, io::ListenerSet bound, const Options& options)
        : reactor{std::move(loop)},
          listeners{std::move(bound)},
          runner{*reactor, options.engine, options.seed, EngineMetrics{options.model, base::wall_now()}},
          handler{*reactor, runner, served_model(options), options.api_key, base::wall_now()},
          server{*reactor, handler, server_limits()},
          acceptor{*reactor, listeners.take(0), [this](int descriptor) { server.adopt(descriptor); }},
          tasks{*reactor, [](std::exception_ptr) { std::terminate(); }} {}

    io::Task<void> shut_down() {
        acceptor.drain_and_close();
        server.begin_drain();
        runner.shut_down();
        co_await server.finish_drain(base::monotonic_now() + 500ms);
        reactor->stop();
    }

    std::unique_ptr<io::Reactor> reactor;
    io::ListenerSet listeners;
    Runner runner;
    SimHandler handler;
    http::Server server;
    io::Acceptor acceptor;
    io::TaskGroup tasks;
    bool stopping = false;
};

Simulator::Simulator(std::unique_ptr<State> state) : state_{std::move(state)} {}
Simulator::~Simulator() = default;

base::Result<std::unique_ptr<Simulator>> Simulator::create(const Options& options) {
    auto address = io::SocketAddress::parse(options.listen.host, options.listen.port);
    if (!address) return std::unexpected{std::move(address).error().within("listen")};
    auto listeners = io::ListenerSet::open(*address, 1);
    if (!listeners) return std::unexpected{std::move(listeners).error()};
    auto reactor = io::Reactor::create();
    if (!reactor) return std::unexpected{std::move(reactor).error()};
    auto state = std::make_unique<State>(*std::move(reactor), *std::move(listeners), options);
    return std::unique_ptr<Simulator>{new Simulator{std::move(state)}};
}

std::string Simulator::address() const { return state_->listeners.address().text(); }

void Simulator::run() { state_->reactor->run(); }

void Simulator::stop() {
    state_->reactor->post([this] {
        if (!std::exchange(state_->stopping, true)) state_->tasks.spawn(state_->shut_down());
    });
}

}  // namespace weir::sim
