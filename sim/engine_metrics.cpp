#include "sim/engine_metrics.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::sim {
namespace {

using base::to_seconds;

std::vector<double> first_token_bounds() {
    return {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
            1,     2.5,   5,    7.5,  10,   20,   40,   80,  160,  640, 2560};
}
std::vector<double> gap_bounds() {
    return {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80};
}
std::vector<double> latency_bounds() {
    return {0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680};
}
std::vector<double> token_bounds() { return {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000}; }
std::vector<double> step_bounds() { return {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}; }

// Writes one family after the other; every series carries the same first labels.
class Exposition {
public:
    Exposition(std::string_view model, double created_at) : model_{model}, created_at_{created_at} {}

    void counter(std::string_view name, std::string_view help, std::uint64_t value) {
        family(name, help, "counter");
        sample(name, {}, static_cast<double>(value));
        // What a careless reader takes for the counter: the time at which it was made.
        const auto created = fmt::format("{}_created", name.substr(0, name.rfind("_total")));
        family(created, help, "gauge");
        sample(created, {}, created_at_);
    }
    void gauge(std::string_view name, std::string_view help, double value) {
        family(name, help, "gauge");
        sample(name, {}, value);
    }
    void family(std::string_view name, std::string_view help, std::string_view type) {
        fmt::format_to(std::back_inserter(out_), "# HELP {} Simulated: {}.\n# TYPE {} {}\n", name, help, name, type);
    }
    // Labels are in alphabetical order, so those before model_name are the caller's to give, and those after it too.
    void sample(std::string_view name, std::string_view middle, double value, std::string_view last = {}) {
        fmt::format_to(std::back_inserter(out_), "{}{{engine=\"0\"{}{},model_name=\"{}\"{}{}}} {:#}\n", name,
                       middle.empty() ? "" : ",", middle, model_, last.empty() ? "" : ",", last, value);
    }
    void histogram(std::string_view name, std::string_view help, const Histogram& histogram) {
        family(name, help, "histogram");
        histogram.write(out_, name, fmt::format("engine=\"0\",model_name=\"{}\"", model_));
    }
    void raw(std::string_view text) { out_ += text; }
    [[nodiscard]] std::string take() && { return std::move(out_); }

private:
    std::string_view model_;
    double created_at_;  // seconds since 1970
    std::string out_;
};

void write_gauges(Exposition& to, const engine_model::Engine& engine) {
    const auto& parameters = engine.parameters();
    to.gauge("vllm:num_requests_running", "requests in the batch", engine.running());
    to.gauge("vllm:num_requests_waiting", "requests in the queue", engine.waiting());
    to.family("vllm:num_requests_waiting_by_reason", "requests in the queue by reason", "gauge");
    to.sample("vllm:num_requests_waiting_by_reason", {}, engine.waiting(), R"(reason="capacity")");
    to.sample("vllm:num_requests_waiting_by_reason", {}, 0, R"(reason="deferred")");
    to.family("vllm:engine_sleep_state", "1 for the state the engine is in", "gauge");
    to.sample("vllm:engine_sleep_state", {}, 1, R"(sleep_state="awake")");
    to.sample("vllm:engine_sleep_state", {}, 0, R"(sleep_state="weights_offloaded")");
    to.sample("vllm:engine_sleep_state", {}, 0, R"(sleep_state="discard_all")");
    to.gauge("vllm:kv_cache_usage_perc", "used part of the KV cache, 0 to 1", engine.kv_usage());
    to.family("vllm:cache_config_info", "configuration of the KV cache, as labels", "gauge");
    to.raw(fmt::format(
        "vllm:cache_config_info{{block_size=\"{}\",cache_dtype=\"auto\",enable_prefix_caching=\"False\",engine=\"0\","
        "gpu_memory_utilization=\"0.9\",num_gpu_blocks=\"{}\"}} 1.0\n",
        parameters.block_tokens, parameters.kv_blocks));
}

void write_counters(Exposition& to, const engine_model::Counters& counters) {
    to.counter("vllm:num_preemptions_total", "sequences sent back to the queue", counters.preemptions);
    to.counter("vllm:prompt_tokens_total", "prompt tokens", counters.prompt_tokens);
    to.counter("vllm:generation_tokens_total", "generated tokens", counters.generation_tokens);
    to.counter("vllm:prefix_cache_queries_total", "tokens looked up in the prefix cache", 0);
    to.counter("vllm:prefix_cache_hits_total", "tokens found in the prefix cache", 0);
    constexpr std::string_view success = "vllm:request_success_total";
    to.family(success, "requests that ended, by reason", "counter");
    const std::pair<std::string_view, std::uint64_t> reasons[] = {{"stop", counters.finished_stop},
                                                                  {"length", counters.finished_length},
                                                                  {"abort", counters.aborted},
                                                                  {"error", 0},
                                                                  {"repetition", 0}};
    for (const auto& [reason, count] : reasons)
        to.sample(success, fmt::format("finished_reason=\"{}\"", reason), static_cast<double>(count));
}

void write_speculation(Exposition& to, const engine_model::Counters& counters) {
    to.counter("vllm:spec_decode_num_drafts_total", "sequences verified with drafts", counters.drafts);
    to.counter("vllm:spec_decode_num_draft_tokens_total", "proposed tokens", counters.draft_tokens);
    to.counter("vllm:spec_decode_num_accepted_tokens_total", "accepted proposed tokens", counters.accepted);
    constexpr std::string_view per_position = "vllm:spec_decode_num_accepted_tokens_per_pos_total";
    to.family(per_position, "accepted proposed tokens by position", "counter");
    for (std::size_t i = 0; i < counters.accepted_per_position.size(); ++i)
        to.sample(per_position, {}, static_cast<double>(counters.accepted_per_position[i]),
                  fmt::format("position=\"{}\"", i));
}

}  // namespace

EngineMetrics::EngineMetrics(std::string model, base::WallTime started_at)
    : model_{std::move(model)},
      started_at_{started_at},
      first_token_{first_token_bounds()},
      output_gap_{gap_bounds()},
      time_per_token_{gap_bounds()},
      whole_{latency_bounds()},
      queue_{latency_bounds()},
      inference_{latency_bounds()},
      prefill_{latency_bounds()},
      decode_{latency_bounds()},
      prompt_tokens_{token_bounds()},
      generation_tokens_{token_bounds()},
      step_tokens_{step_bounds()} {}

void EngineMetrics::observe_step(const engine_model::StepResult& result) { step_tokens_.observe(result.batch_tokens); }

void EngineMetrics::observe_output_gap(base::Nanoseconds gap) { output_gap_.observe(to_seconds(gap)); }

void EngineMetrics::observe_first_token(base::Nanoseconds since_arrival) {
    first_token_.observe(to_seconds(since_arrival));
}

void EngineMetrics::observe_finished(const engine_model::Finished& finished) {
    whole_.observe(to_seconds(finished.ended_at - finished.arrived_at));
    prompt_tokens_.observe(finished.prompt_tokens);
    generation_tokens_.observe(finished.output_tokens);
    if (!finished.scheduled_at || !finished.first_token_at) return;
    const auto decoding = finished.ended_at - *finished.first_token_at;
    queue_.observe(to_seconds(*finished.scheduled_at - finished.arrived_at));
    inference_.observe(to_seconds(finished.ended_at - *finished.scheduled_at));
    prefill_.observe(to_seconds(*finished.first_token_at - *finished.scheduled_at));
    decode_.observe(to_seconds(decoding));
    if (finished.output_tokens > 1) time_per_token_.observe(to_seconds(decoding) / (finished.output_tokens - 1));
}

std::string EngineMetrics::text(const engine_model::Engine& engine, base::Nanoseconds late) const {
    Exposition to{model_, to_seconds(started_at_.time_since_epoch())};
    write_gauges(to, engine);
    write_counters(to, engine.counters());
    if (engine.parameters().speculation.enabled()) write_speculation(to, engine.counters());
    to.histogram("vllm:time_to_first_token_seconds", "arrival to first token", first_token_);
    to.histogram("vllm:inter_token_latency_seconds", "between two outputs of a request", output_gap_);
    to.histogram("vllm:request_time_per_output_token_seconds", "mean time per token of a request", time_per_token_);
    to.histogram("vllm:e2e_request_latency_seconds", "arrival to end of a request", whole_);
    to.histogram("vllm:request_queue_time_seconds", "time of a request in the queue", queue_);
    to.histogram("vllm:request_inference_time_seconds", "time of a request in the batch", inference_);
    to.histogram("vllm:request_prefill_time_seconds", "batch to first token", prefill_);
    to.histogram("vllm:request_decode_time_seconds", "first token to end", decode_);
    to.histogram("vllm:request_prompt_tokens", "prompt tokens", prompt_tokens_);
    to.histogram("vllm:request_generation_tokens", "generated tokens", generation_tokens_);
    to.histogram("vllm:iteration_tokens_total", "tokens in one step", step_tokens_);
    to.raw(
        "# HELP weir_sim_late_seconds_total Simulated: time by which the simulation fell behind its own clock.\n"
        "# TYPE weir_sim_late_seconds_total counter\n");
    to.raw(fmt::format("weir_sim_late_seconds_total {}\n", to_seconds(late)));
    to.raw(
        "# HELP process_start_time_seconds Simulated: when the engine started, seconds since 1970.\n"
        "# TYPE process_start_time_seconds gauge\n");
    to.raw(fmt::format("process_start_time_seconds {:.3f}\n", to_seconds(started_at_.time_since_epoch())));
    return std::move(to).take();
}

}  // namespace weir::sim
