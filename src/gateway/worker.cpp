#include "gateway/worker.h"

#include "base/thread_name.h"
#include "gateway/gateway.h"
#include "gateway/refusal.h"
#include "gateway/services.h"
#include "http/server.h"
#include "io/task_group.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

namespace weir::gateway {

namespace {

// A worker hands a connection over when it has this many more than the least loaded one.
constexpr std::size_t tolerated_imbalance = 4;

http::ServerLimits limits_of(const config::ServerLimits& limits) {
    using std::chrono::ceil;
    using std::chrono::milliseconds;
    return {.header_bytes = limits.header_bytes,
            .body_bytes = limits.body_bytes,
            .header_timeout = ceil<milliseconds>(limits.header_timeout),
            .body_timeout = ceil<milliseconds>(limits.body_timeout),
            .idle_timeout = ceil<milliseconds>(limits.idle_timeout),
            .write_stall_timeout = ceil<milliseconds>(limits.write_stall_timeout)};
}

// The connection never gets a codec: that is what the limit saves. Best effort, never blocks.
void turn_away(int descriptor) {
    const Refusal refusal{.reason = model::Reason::overloaded,
                          .message = "This gateway has as many connections as it may; try again shortly."};
    const std::string body = error_body(refusal);
    const std::string reply = fmt::format(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nx-weir-reason: overloaded\r\n"
        "retry-after: 1\r\nretry-after-ms: 1000\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{}",
        body.size(), body);
    static_cast<void>(::send(descriptor, reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    ::shutdown(descriptor, SHUT_WR);
    ::close(descriptor);
}

}  // namespace

struct WorkerGroup::Shared {
    WorkerOptions options;
    std::atomic<std::size_t> connections{0};
    std::optional<io::ListenerSet> listeners{};  // holds the lock on the port until the drain begins
};

class WorkerGroup::Worker {
public:
    Worker(Shared& shared, ledger::Spool& spool, std::unique_ptr<io::Reactor> reactor, Tables tables)
        : shared_{shared},
          reactor_{std::move(reactor)},
          upstream_{*reactor_, {}},
          metrics_{{.dropped_labels = tables.snapshot->config.telemetry.drop_labels}},
          random_{base::Random::from_system()},
          services_{.reactor = *reactor_,
                    .upstream = upstream_,
                    .metrics = metrics_,
                    .spool = spool,
                    .inspector = inspector_,
                    .relay_scratch = relay_scratch_,
                    .random = random_,
                    .known_keys = known_keys_,
                    .snapshot = std::move(tables.snapshot),
                    .keys = std::move(tables.keys),
                    .engine_version = shared.options.engine_version},
          gateway_{services_, shared.options.on_bug},
          server_{*reactor_, gateway_, limits_of(services_.snapshot->config.server.limits)},
          tasks_{*reactor_, [this](std::exception_ptr) { shared_.options.on_bug("a worker's own task failed"); }} {}

    void listen(int descriptor, std::function<Worker&()> least_loaded) {
        least_loaded_ = std::move(least_loaded);
        acceptor_ = std::make_unique<io::Acceptor>(*reactor_, descriptor, [this](int accepted) { place(accepted); });
    }
    void run(std::size_t index) {
        thread_ = std::jthread{[this, index] {
            base::name_this_thread(fmt::format("weir-data-{}", index));
            reactor_->run();
        }};
    }
    void join() {
        if (thread_.joinable()) thread_.join();
    }
    void publish(Tables tables) {
        reactor_->post([this, next = std::move(tables)]() mutable {
            server_.set_limits(limits_of(next.snapshot->config.server.limits));
            services_.snapshot = std::move(next.snapshot);
            use(std::move(next.keys));
        });
    }
    void publish_keys(std::shared_ptr<const auth::KeyTable> keys) {
        reactor_->post([this, next = std::move(keys)]() mutable { use(std::move(next)); });
    }
    void drain(std::chrono::nanoseconds timeout) {
        reactor_->post([this, timeout] {
            // First the flag: what the kernel still had queued stays with this worker, whose peers may be gone by then.
            services_.draining = true;
            if (acceptor_) acceptor_->drain_and_close();
            server_.begin_drain();
            tasks_.spawn(finish(reactor_->now() + timeout));
        });
    }
    [[nodiscard]] std::size_t load() const noexcept { return load_.load(std::memory_order_relaxed); }
    void collect(metric::Exposition& exposition) const { metrics_.collect(exposition); }

private:
    void use(std::shared_ptr<const auth::KeyTable> keys) {
        services_.keys = std::move(keys);
        known_keys_.forget();
    }
    // On this worker's thread, for a descriptor that its listener accepted.
    void place(int descriptor) {
        if (shared_.connections.load(std::memory_order_relaxed) >= shared_.options.max_connections) {
            metrics_.reject(model::Reason::overloaded);
            turn_away(descriptor);
            return;
        }
        Worker& least = least_loaded_();
        if (&least == this || load() < least.load() + tolerated_imbalance || services_.draining) {
            adopt(descriptor);
            return;
        }
        least.reactor_->post([&least, descriptor] { least.adopt(descriptor); });
    }
    void adopt(int descriptor) {
        server_.adopt(descriptor);
        count();
    }
    // The server knows how many it has; the process-wide sum follows by the difference.
    void count() {
        const std::size_t now = server_.connections();
        shared_.connections.fetch_add(now - load_.exchange(now, std::memory_order_relaxed), std::memory_order_relaxed);
        if (counting_) return;
        counting_ = true;
        tasks_.spawn(recount());
    }
    io::Task<void> recount();
    io::Task<void> finish(base::Instant deadline);

    Shared& shared_;
    std::unique_ptr<io::Reactor> reactor_;
    http::ClientPool upstream_;
    telemetry::RequestMetrics metrics_;
    Inspector inspector_;
    RelayScratch relay_scratch_;
    base::Random random_;
    auth::KnownKeys known_keys_;
    Services services_;
    Gateway gateway_;
    http::Server server_;
    io::TaskGroup tasks_;
    std::unique_ptr<io::Acceptor> acceptor_;
    std::function<Worker&()> least_loaded_;
    std::atomic<std::size_t> load_{0};
    bool counting_ = false;
    io::Cancel stopping_;
    std::jthread thread_;
};

// Connections end without telling anybody; a look every so often keeps the counts near the truth.
io::Task<void> WorkerGroup::Worker::recount() {
    while (server_.connections() > 0) {
        const auto slept = co_await reactor_->sleep(
            {.deadline = reactor_->now() + std::chrono::milliseconds{100}, .cancel = &stopping_});
        count();
        if (!slept) break;
    }
    counting_ = false;
}

io::Task<void> WorkerGroup::Worker::finish(base::Instant deadline) {
    co_await server_.finish_drain(deadline);
    stopping_.fire();
    upstream_.close_idle();
    // A turn later everything that was queued meanwhile has run.
    const auto slept = co_await reactor_->sleep({.deadline = reactor_->now() + std::chrono::milliseconds{1}});
    static_cast<void>(slept);
    reactor_->stop();
}

WorkerGroup::WorkerGroup(std::unique_ptr<Shared> shared) : shared_{std::move(shared)} {}

base::Result<std::unique_ptr<WorkerGroup>> WorkerGroup::start(io::ListenerSet listeners, Tables tables,
                                                              ledger::Ledger& ledger, WorkerOptions options) {
    const std::size_t count = options.workers;
    auto shared = std::unique_ptr<Shared>{new Shared{.options = std::move(options)}};
    auto group = std::unique_ptr<WorkerGroup>{new WorkerGroup{std::move(shared)}};
    for (std::size_t i = 0; i < count; ++i) {
        auto reactor = io::Reactor::create();
        if (!reactor) return std::unexpected{std::move(reactor).error()};
        group->workers_.push_back(
            std::make_unique<Worker>(*group->shared_, ledger.spool(i), *std::move(reactor), tables));
    }
    for (std::size_t i = 0; i < count; ++i)
        group->workers_[i]->listen(listeners.take(i), [workers = &group->workers_]() -> Worker& {
            return **std::ranges::min_element(*workers, {}, [](const auto& worker) { return worker->load(); });
        });
    group->shared_->listeners = std::move(listeners);
    for (std::size_t i = 0; i < count; ++i)
        group->workers_[i]->run(i);
    return group;
}

WorkerGroup::~WorkerGroup() { drain(std::chrono::seconds{0}); }

void WorkerGroup::publish(const Tables& tables) {
    for (auto& worker : workers_)
        worker->publish(tables);
}

void WorkerGroup::publish_keys(const std::shared_ptr<const auth::KeyTable>& keys) {
    for (auto& worker : workers_)
        worker->publish_keys(keys);
}

// The workers stay, ended, until the group goes: a scrape on another thread may still read their numbers.
void WorkerGroup::drain(std::chrono::nanoseconds timeout) {
    if (std::exchange(drained_, true)) return;
    shared_->listeners.reset();
    for (auto& worker : workers_)
        worker->drain(timeout);
    for (auto& worker : workers_)
        worker->join();
}

std::size_t WorkerGroup::connections() const noexcept { return shared_->connections.load(std::memory_order_relaxed); }

void WorkerGroup::collect(metric::Exposition& exposition) const {
    for (const auto& worker : workers_)
        worker->collect(exposition);
}

}  // namespace weir::gateway
