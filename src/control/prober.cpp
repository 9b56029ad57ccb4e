#include "control/prober.h"

#include "base/random.h"
#include "control/health_rule.h"
#include "control/question.h"
#include "engine/adapter.h"
#include "engine/probe.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>

namespace weir::control {

namespace {

// One replica that is probed. Shared by the prober and the task that probes it; `ended` tells the task to leave.
struct Watched {
    explicit Watched(ProbeTarget wanted) : target{std::move(wanted)} {}
    ProbeTarget target;
    HealthRule rule;
    engine::Discovery discovery;
    io::Cancel ended;
};

bool is_same_engine(const ProbeTarget& a, const ProbeTarget& b) {
    return a.engine == b.engine && a.origin.authority == b.origin.authority &&
           a.origin.address.text() == b.origin.address.text();
}

engine::HealthAnswer health_in(const base::Result<Answer>& answer) {
    return answer ? engine::interpret_health(answer->status, answer->body) : engine::HealthAnswer::failed;
}

std::string in_words(const base::Result<Answer>& answer) {
    return answer ? fmt::format("HTTP {}", answer->status) : answer.error().message();
}

bool is_success(const base::Result<Answer>& answer) { return answer && answer->status >= 200 && answer->status < 300; }

// What an answer to a discovering question adds; an answer that is not understood adds nothing.
void merge_models(engine::Discovery& into, const base::Result<Answer>& answer) {
    if (!is_success(answer)) return;
    if (const auto models = engine::parse_models(answer->body)) engine::merge(into, *models);
}

void merge_version(engine::Discovery& into, const base::Result<Answer>& answer) {
    if (!is_success(answer)) return;
    if (auto version = engine::parse_version_answer(answer->body)) into.engine_version = std::move(*version);
}

void merge_properties(engine::Discovery& into, config::Engine engine, const base::Result<Answer>& answer) {
    if (!is_success(answer)) return;
    const auto properties = engine == config::Engine::sglang ? engine::parse_sglang_server_info(answer->body)
                                                             : engine::parse_llamacpp_properties(answer->body);
    if (properties) engine::merge(into, *properties);
}

}  // namespace

struct Prober::State {
    State(io::Reactor& on, DiscoveryBoard& to, OnChange changed, io::TaskGroup::OnCrash crashed)
        : reactor{on},
          board{to},
          on_change{std::move(changed)},
          client{on, http::ClientLimits{}},
          tasks{on, std::move(crashed)} {}

    io::Reactor& reactor;
    DiscoveryBoard& board;
    OnChange on_change;
    http::ClientPool client;
    io::TaskGroup tasks;
    base::Random random = base::Random::from_system();
    std::map<ReplicaName, std::shared_ptr<Watched>> watched;
    bool stopping = false;

    io::Task<void> watch(std::shared_ptr<Watched> replica);
    io::Task<void> probe(std::shared_ptr<Watched> replica);
    io::Task<void> discover(std::shared_ptr<Watched> replica, Answer health);
    io::Task<base::Result<Answer>> question(std::shared_ptr<Watched> replica, std::string_view path);
    void settle(Watched& replica, const base::Result<Answer>& answer);
    void remember(Watched& replica, engine::Discovery found);
    void publish_board();
    // Replicas of one configuration must not be asked in step for ever.
    [[nodiscard]] base::Nanoseconds pause(const ProbeTarget& target);
};

base::Nanoseconds Prober::State::pause(const ProbeTarget& target) {
    const double factor = 0.9 + 0.2 * random.unit();
    return base::Nanoseconds{static_cast<std::int64_t>(static_cast<double>(target.interval.count()) * factor)};
}

io::Task<void> Prober::State::watch(std::shared_ptr<Watched> replica) {
    while (!replica->ended.fired()) {
        co_await probe(replica);
        const io::Wait until_next{.deadline = reactor.now() + pause(replica->target), .cancel = &replica->ended};
        const base::Status slept = co_await reactor.sleep(until_next);
        if (!slept) break;
    }
}

io::Task<void> Prober::State::probe(std::shared_ptr<Watched> replica) {
    base::Result<Answer> health = co_await question(replica, engine::adapter_for(replica->target.engine).health_path);
    if (replica->ended.fired()) co_return;
    settle(*replica, health);
    if (replica->rule.state() != routing::Health::healthy)
        remember(*replica, {});  // what comes back may be another version
    if (health_in(health) == engine::HealthAnswer::healthy) co_await discover(replica, std::move(*health));
}

io::Task<void> Prober::State::discover(std::shared_ptr<Watched> replica, Answer health) {
    const engine::Adapter& adapter = engine::adapter_for(replica->target.engine);
    engine::Discovery found = replica->discovery;
    if (adapter.models_path == adapter.health_path) {
        merge_models(found, std::move(health));
    } else {
        const base::Result<Answer> models = co_await question(replica, adapter.models_path);
        merge_models(found, models);
    }
    if (!adapter.version_path.empty()) {
        const base::Result<Answer> version = co_await question(replica, adapter.version_path);
        merge_version(found, version);
    }
    if (!adapter.properties_path.empty()) {
        const base::Result<Answer> properties = co_await question(replica, adapter.properties_path);
        merge_properties(found, replica->target.engine, properties);
    }
    if (!replica->ended.fired()) remember(*replica, std::move(found));
}

io::Task<base::Result<Answer>> Prober::State::question(std::shared_ptr<Watched> replica, std::string_view path) {
    const ProbeTarget& target = replica->target;
    const io::Wait wait{.deadline = reactor.now() + target.timeout, .cancel = &replica->ended};
    base::Result<Answer> answer =
        co_await ask(client, target.origin, get_request(path, target.origin.authority, target.credential), wait);
    co_return answer;
}

void Prober::State::settle(Watched& replica, const base::Result<Answer>& answer) {
    const routing::Health before = replica.rule.state();
    const routing::Health after = replica.rule.after(health_in(answer));
    replica.target.slot->publish(after, reactor.now());
    if (before != after && on_change)
        on_change({.name = replica.target.name, .from = before, .to = after, .why = in_words(answer)});
}

void Prober::State::remember(Watched& replica, engine::Discovery found) {
    if (replica.discovery == found) return;
    replica.discovery = std::move(found);
    publish_board();
}

void Prober::State::publish_board() {
    DiscoveryTable table;
    for (const auto& [name, replica] : watched)
        if (replica->discovery != engine::Discovery{}) table.emplace(name, replica->discovery);
    board.publish(std::move(table));
}

Prober::Prober(io::Reactor& reactor, DiscoveryBoard& board, OnChange on_change, io::TaskGroup::OnCrash on_crash)
    : state_{std::make_unique<State>(reactor, board, std::move(on_change), std::move(on_crash))} {}

Prober::~Prober() = default;

void Prober::set_targets(std::vector<ProbeTarget> targets) {
    if (state_->stopping) return;
    std::map<ReplicaName, std::shared_ptr<Watched>> next;
    std::vector<std::shared_ptr<Watched>> fresh;
    for (ProbeTarget& target : targets) {
        if (next.contains(target.name)) continue;
        const auto known = state_->watched.find(target.name);
        if (known != state_->watched.end() && is_same_engine(known->second->target, target)) {
            known->second->target = std::move(target);
            next.insert(state_->watched.extract(known));
            continue;
        }
        auto replica = std::make_shared<Watched>(std::move(target));
        next.emplace(replica->target.name, replica);
        fresh.push_back(std::move(replica));
    }
    state_->watched.swap(next);
    for (const auto& [name, gone] : next)
        gone->ended.fire();
    state_->publish_board();
    for (auto& replica : fresh)
        state_->tasks.spawn(state_->watch(std::move(replica)));
}

io::Task<void> Prober::stop() {
    state_->stopping = true;
    for (const auto& [name, replica] : state_->watched)
        replica->ended.fire();
    const base::Status empty = co_await state_->tasks.wait_empty({});
    static_cast<void>(empty);  // it has neither deadline nor cancel, so it ends when the last task has
}

}  // namespace weir::control
