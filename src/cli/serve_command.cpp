#include "cli/serve_command.h"

#include "cli/admin_routes.h"
#include "cli/control_plane.h"
#include "cli/exit_codes.h"
#include "cli/scrape.h"
#include "cli/signals.h"
#include "config/config.h"
#include "control/key_refresh.h"
#include "control/ticker.h"
#include "engine/contract_facts.h"
#include "gateway/caller_keys.h"
#include "gateway/worker.h"
#include "ledger/ledger.h"
#include "store/sqlite_key_feed.h"
#include "store/sqlite_record_reader.h"
#include "store/sqlite_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace weir::cli {

namespace {

using base::Result;
using base::Status;

// Changes of keys take effect within 2 s; this leaves time for a busy machine.
constexpr std::chrono::milliseconds key_refresh_interval{250};

// One line on standard error for each thing an operator may want to know; the access log has the requests.
void say(std::string_view text) {
    static std::mutex mutex;
    const std::string line = fmt::format("weir: {}\n", text);
    const std::scoped_lock lock{mutex};
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
}

// What runs; built in order, taken down in reverse.
class Daemon {
public:
    explicit Daemon(std::string config_path) : config_path_{std::move(config_path)} {}

    Status start(config::Config config);
    void wait_for_signals();
    void stop();

private:
    Status open_ledger(const config::Config& config);
    Result<auth::KeyRegistry::Table> load_keys();
    Status start_workers(io::ListenerSet listeners, auth::KeyRegistry::Table keys);
    void start_key_refresh();
    struct Loaded {
        std::shared_ptr<const gateway::Snapshot> snapshot;
        auth::KeySet keys;
    };
    Result<Loaded> load_again();
    void reload();
    [[nodiscard]] std::string metrics() const;
    [[nodiscard]] ControlHooks control_hooks();
    void note_reload(std::string problems);
    void note_keys(const auth::KeyRegistry::Table& keys);
    [[nodiscard]] gateway::Tables tables() const;
    [[nodiscard]] ConfigStatus config_status() const;
    [[nodiscard]] std::shared_ptr<const gateway::Snapshot> snapshot() const {
        const std::scoped_lock lock{mutex_};
        return snapshot_;
    }

    std::string config_path_;
    routing::ReplicaTable replicas_;
    control::DiscoveryBoard board_;
    mutable std::mutex mutex_;
    std::shared_ptr<const gateway::Snapshot> snapshot_;
    gateway::Tables tables_;  // what workers were given last
    base::WallTime loaded_at_{};
    base::WallTime last_reload_at_{};
    std::string last_reload_problems_;  // "" = it was successful
    std::unique_ptr<ledger::Ledger> ledger_;
    std::unique_ptr<store::SqliteRecordReader> records_;  // the control thread's
    std::unique_ptr<control::KeyRefresh> keys_;
    std::unique_ptr<gateway::WorkerGroup> workers_;
    std::unique_ptr<control::Ticker> key_ticker_;
    std::unique_ptr<ControlPlane> control_;
    std::atomic<bool> draining_{false};
};

Result<io::ListenerSet> listen_on(const base::HostPort& where, std::size_t count, std::string_view key) {
    auto address = io::SocketAddress::parse(where.host, where.port);
    if (!address) return std::unexpected{std::move(address).error().within(key)};
    auto listeners = io::ListenerSet::open(*address, count);
    if (!listeners) return std::unexpected{std::move(listeners).error().within(key)};
    return listeners;
}

std::size_t worker_count(std::uint32_t configured) {
    return configured != 0 ? configured : std::max(1U, std::thread::hardware_concurrency());
}

// Half of the descriptors, because each connection may need one upstream.
std::size_t connection_limit(std::uint32_t configured) {
    const auto descriptors = io::raise_descriptor_limit();
    if (configured <= descriptors / 2) return configured;
    say(
        fmt::format("server.limits.connections: {} is more than this process's descriptors allow; {} are served (raise "
                    "LimitNOFILE to serve more)",
                    configured, descriptors / 2));
    return descriptors / 2;
}

Status Daemon::open_ledger(const config::Config& config) {
    ledger::LedgerOptions options;
    const auto& spool = config.store.spool;
    options.workers = worker_count(config.server.workers);
    options.spool = {
        .path = config.store.spool_path(),
        .cap_bytes = spool.cap_bytes,
        .segment_bytes = spool.segment_bytes,
        .when_full = spool.when_full == config::SpoolFull::drop ? ledger::WhenFull::drop : ledger::WhenFull::refuse};
    options.access_log_path = config.telemetry.access_log.path;
    options.report = [](std::string_view text) { say(text); };
    if (config.store.kind() != config::StoreKind::sqlite)
        return base::fail(base::ErrorCode::unavailable, "store.url: only sqlite: is supported by this version");
    auto store = store::SqliteStore::open(config.store.sqlite_path());
    if (!store) return std::unexpected{std::move(store).error()};
    options.store = *std::move(store);
    auto ledger = ledger::Ledger::start(std::move(options));
    if (!ledger) return std::unexpected{std::move(ledger).error()};
    ledger_ = *std::move(ledger);
    auto records = store::SqliteRecordReader::open(config.store.sqlite_path());
    if (!records) return std::unexpected{std::move(records).error()};
    records_ = *std::move(records);
    return {};
}

Result<auth::KeyRegistry::Table> Daemon::load_keys() {
    auto configured = gateway::configured_keys(snapshot_->config);
    if (!configured) return std::unexpected{std::move(configured).error()};
    const auto open = [path = snapshot_->config.store.sqlite_path()]() -> Result<std::unique_ptr<ports::KeyFeed>> {
        auto feed = store::SqliteKeyFeed::open(path);
        if (!feed) return std::unexpected{std::move(feed).error()};
        return *std::move(feed);
    };
    keys_ = std::make_unique<control::KeyRefresh>(
        control::KeyRefreshHooks{.open_feed = open, .report = [](std::string_view text) { say(text); }});
    return keys_->load(*std::move(configured), gateway::key_binder(snapshot_));
}

void Daemon::start_key_refresh() {
    keys_->publish_to([this](const auth::KeyRegistry::Table& table) {
        note_keys(table);
        workers_->publish_keys(table);
    });
    key_ticker_ = std::make_unique<control::Ticker>(key_refresh_interval, [this] { keys_->refresh(); });
}

Status Daemon::start_workers(io::ListenerSet listeners, auth::KeyRegistry::Table keys) {
    const auto& server = snapshot_->config.server;
    gateway::WorkerOptions options;
    options.workers = worker_count(server.workers);
    options.max_connections = connection_limit(server.limits.connections);
    options.on_bug = [](const std::string& text) { say(fmt::format("BUG: a request failed: {}", text)); };
    options.engine_version = [this](std::string_view pool, std::string_view replica) -> std::string {
        const auto table = board_.snapshot();
        const auto found = table->find(control::ReplicaNameView{.pool = pool, .url = replica});
        return found == table->end() ? std::string{} : found->second.engine_version;
    };
    auto workers = gateway::WorkerGroup::start(std::move(listeners), {.snapshot = snapshot_, .keys = std::move(keys)},
                                               *ledger_, std::move(options));
    if (!workers) return std::unexpected{std::move(workers).error()};
    workers_ = *std::move(workers);
    return {};
}

Status Daemon::start(config::Config config) {
    const auto server = config.server;
    auto data = listen_on(server.listen, worker_count(server.workers), "server.listen");
    if (!data) return std::unexpected{std::move(data).error()};
    auto metrics_port = listen_on(server.metrics_listen, 1, "server.metrics_listen");
    if (!metrics_port) return std::unexpected{std::move(metrics_port).error()};
    auto admin_port = listen_on(server.admin_listen, 1, "server.admin_listen");
    if (!admin_port) return std::unexpected{std::move(admin_port).error()};
    const auto data_address = data->address().text();
    const auto admin_address = admin_port->address().text();
    const auto metrics_address = metrics_port->address().text();
    if (auto opened = open_ledger(config); !opened) return opened;
    auto made = gateway::make_snapshot(std::move(config), replicas_);
    if (!made) return std::unexpected{std::move(made).error()};
    snapshot_ = *std::move(made);
    loaded_at_ = last_reload_at_ = base::wall_now();
    auto keys = load_keys();
    if (!keys) return std::unexpected{std::move(keys).error()};
    tables_ = {.snapshot = snapshot_, .keys = *keys};
    if (auto started = start_workers(*std::move(data), *std::move(keys)); !started) return started;
    start_key_refresh();
    auto control = ControlPlane::start({.metrics = *std::move(metrics_port), .admin = *std::move(admin_port)},
                                       snapshot_, board_, control_hooks());
    if (!control) return std::unexpected{std::move(control).error()};
    control_ = *std::move(control);
    say(fmt::format("listening data={} metrics={} admin={}", data_address, metrics_address, admin_address));
    return {};
}

ControlHooks Daemon::control_hooks() {
    return {
        .render_metrics = [this] { return metrics(); },
        .readiness =
            [this] { return draining_.load() ? admin::Readiness{false, "draining"} : admin::Readiness{true, "ready"}; },
        .on_health_change =
            [](const control::HealthChange& change) {
                say(fmt::format("replica {} of pool {}: {} -> {} ({})", change.name.url, change.name.pool,
                                routing::name_of(change.from), routing::name_of(change.to), change.why));
            },
        .on_bug = [](const std::string& text) { say(fmt::format("BUG: the control loop failed: {}", text)); },
        .admin_routes = admin_routes({.tables = [this] { return tables(); },
                                      .draining = [this] { return draining_.load(); },
                                      .config_status = [this] { return config_status(); },
                                      .record = [this](const std::string& id) { return records_->find(id); }})};
}

void Daemon::note_keys(const auth::KeyRegistry::Table& keys) {
    const std::scoped_lock lock{mutex_};
    tables_.keys = keys;
}

gateway::Tables Daemon::tables() const {
    const std::scoped_lock lock{mutex_};
    return tables_;
}

void Daemon::note_reload(std::string problems) {
    const std::scoped_lock lock{mutex_};
    last_reload_at_ = base::wall_now();
    if (problems.empty()) loaded_at_ = last_reload_at_;
    last_reload_problems_ = std::move(problems);
}

ConfigStatus Daemon::config_status() const {
    const std::scoped_lock lock{mutex_};
    return {.version = snapshot_->config.version_hash,
            .file = config_path_,
            .loaded_at = loaded_at_,
            .last_reload_successful = last_reload_problems_.empty(),
            .last_reload_at = last_reload_at_,
            .last_reload_problems = last_reload_problems_};
}

std::string Daemon::metrics() const {
    const auto current = snapshot();
    return render_metrics({.workers = workers_.get(),
                           .ledger = ledger_.get(),
                           .snapshot = current.get(),
                           .last_reload_successful = config_status().last_reload_successful},
                          base::monotonic_now());
}

// A configuration and its keys; none of it is in force yet.
Result<Daemon::Loaded> Daemon::load_again() {
    auto config = config::load(config_path_, config::Environment::process(), engine::contract_facts());
    if (!config) return base::fail(base::ErrorCode::invalid_argument, config.error().format());
    auto keys = gateway::configured_keys(*config);
    if (!keys) return std::unexpected{std::move(keys).error()};
    auto made = gateway::make_snapshot(*std::move(config), replicas_);
    if (!made) return std::unexpected{std::move(made).error()};
    return Loaded{.snapshot = *std::move(made), .keys = *std::move(keys)};
}

void Daemon::reload() {
    ledger_->reopen_access_log();
    auto loaded = load_again();
    if (!loaded) {
        note_reload(loaded.error().message());
        say(fmt::format("reload refused, the running configuration stays:\n{}", loaded.error().message()));
        return;
    }
    {
        const std::scoped_lock lock{mutex_};
        snapshot_ = loaded->snapshot;
    }
    keys_->reconfigure(std::move(loaded->keys), gateway::key_binder(snapshot()),
                       [this](auth::KeyRegistry::Table table) {
                           const gateway::Tables next{.snapshot = snapshot(), .keys = std::move(table)};
                           {
                               const std::scoped_lock lock{mutex_};
                               tables_ = next;
                           }
                           workers_->publish(next);
                       });
    note_reload("");
    control_->publish(snapshot());
    if (const auto& warnings = snapshot()->config.warnings; !warnings.empty())
        say(fmt::format("warnings:\n{}", warnings.format()));
    say(fmt::format("configuration {} is in force", snapshot()->config.version_hash));
}

void Daemon::wait_for_signals() {
    while (true) {
        switch (next_signal()) {
            case SignalKind::reload: reload(); break;
            case SignalKind::stop: return;
        }
    }
}

void Daemon::stop() {
    draining_.store(true);
    if (workers_) {
        const auto drain = snapshot()->config.server.drain;
        say(fmt::format("draining: {} connections, at most {}", workers_->connections(),
                        base::format_duration(drain.timeout)));
        // A second signal ends the waiting, not the drain.
        static_cast<void>(wait_for_signal(drain.delay));
        workers_->drain(drain.timeout);
    }
    key_ticker_.reset();
    if (control_) control_->stop();
    if (ledger_) ledger_->stop();
    say("stopped");
}

}  // namespace

int run_serve(const ServeOptions& options) {
    auto config = config::load(options.config_path, config::Environment::process(), engine::contract_facts());
    if (!config) {
        std::fputs(config.error().format().c_str(), stderr);
        return exit_no;
    }
    if (!config->warnings.empty()) say(fmt::format("warnings:\n{}", config->warnings.format()));
    // Before any thread exists, so that all inherit the mask and signals come to this one only.
    block_signals();
    Daemon daemon{options.config_path};
    if (auto started = daemon.start(*std::move(config)); !started) {
        say(fmt::format("cannot start: {}", started.error().message()));
        return exit_environment;
    }
    daemon.wait_for_signals();
    daemon.stop();
    return 0;
}

}  // namespace weir::cli
