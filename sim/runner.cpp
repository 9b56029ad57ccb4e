#include "sim/runner.h"

#include <chrono>
#include <utility>

namespace weir::sim {
namespace {

using namespace std::chrono_literals;

// A step that ends late does not delay the next, so the simulated rate is kept. Beyond this the machine is simply too
// slow for the preset: the clock is moved and the loss is counted.
constexpr base::Nanoseconds most_lag = 50ms;

}  // namespace

Runner::Runner(io::Reactor& reactor, const engine_model::Parameters& parameters, std::uint64_t seed,
               EngineMetrics metrics)
    : engine_{parameters, seed}, metrics_{std::move(metrics)}, pacer_{reactor, [this] { end_step(); }} {}

base::Result<engine_model::RequestId> Runner::submit(const engine_model::RequestSpec& spec, StepListener& listener) {
    if (stopped_) return base::fail(base::ErrorCode::unavailable, "the simulated engine is shutting down");
    const auto now = base::monotonic_now();
    auto id = engine_.submit(spec, now);
    if (!id) return id;
    requests_.emplace(id->value, Request{.listener = &listener, .arrived_at = now});
    if (!stepping_) begin_step(now);
    return id;
}

void Runner::withdraw(engine_model::RequestId id) {
    if (requests_.erase(id.value) == 0) return;
    const auto finished = engine_.abort(id, base::monotonic_now());
    if (finished) metrics_.observe_finished(*finished);
}

void Runner::shut_down() {
    stopped_ = true;
    for (const auto& [id, request] : std::exchange(requests_, {}))
        request.listener->on_shutdown();
}

void Runner::begin_step(base::Instant at) {
    step_ = engine_.step(at);
    step_ends_ = at + step_.duration;
    stepping_ = true;
    pacer_.wake_at(step_ends_);
}

void Runner::end_step() {
    metrics_.observe_step(step_);
    for (const auto& progress : step_.progress)
        report_tokens(progress);
    for (const auto& finished : step_.finished)
        report_finished(finished);
    stepping_ = false;
    if (stopped_ || engine_.idle()) return;
    const auto now = base::monotonic_now();
    const auto lag = now - step_ends_;
    if (lag > most_lag) late_ += lag;
    begin_step(lag > most_lag ? now : step_ends_);
}

void Runner::report_tokens(const engine_model::Progress& progress) {
    const auto found = requests_.find(progress.id.value);
    if (found == requests_.end()) return;  // withdrawn while the step was under way
    auto& request = found->second;
    if (request.last_output_at)
        metrics_.observe_output_gap(step_ends_ - *request.last_output_at);
    else
        metrics_.observe_first_token(step_ends_ - request.arrived_at);
    request.last_output_at = step_ends_;
    request.listener->on_tokens(progress.tokens);
}

void Runner::report_finished(const engine_model::Finished& finished) {
    metrics_.observe_finished(finished);
    const auto found = requests_.find(finished.id.value);
    if (found == requests_.end()) return;
    auto* const listener = found->second.listener;
    requests_.erase(found);
    listener->on_finished(finished.reason);
}

}  // namespace weir::sim
