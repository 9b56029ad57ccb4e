// weir-sim: one simulated inference engine behind HTTP.
#include "base/units.h"
#include "engine_model/presets.h"
#include "io/listener.h"
#include "sim/options.h"
#include "sim/process_watch.h"
#include "sim/simulator.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace {

using weir::base::Result;
using weir::sim::Options;

enum ExitCode : int { exit_ok = 0, exit_usage = 2, exit_environment = 3 };

struct CommandLine {
    std::string config;
    std::optional<std::string> listen;
    std::optional<std::string> preset;
    std::optional<std::string> imitates;
    std::optional<std::string> model;
    std::optional<std::uint64_t> seed;
    std::optional<std::string> api_key;
    bool list_presets = false;
    bool exit_on_stdin_eof = false;
};

void declare(CLI::App& app, CommandLine& line) {
    app.add_option("--listen", line.listen,
                   "Address to listen on, HOST:PORT; port 0 takes a free one (default 127.0.0.1:8000)");
    auto* const preset =
        app.add_option("--preset", line.preset, "The engine to simulate, see --list-presets (default baseline)");
    app.add_option("--config", line.config, "YAML or JSON file: listen, preset, as, model, seed, api_key, engine")
        ->excludes(preset);
    app.add_option("--as", line.imitates, "Engine and version to imitate (default vllm:0.22)");
    app.add_option("--model", line.model, "Name of the model it serves (default: the preset's)");
    app.add_option("--seed", line.seed, "Seed of words, lengths and acceptance (default 1)");
    app.add_option("--api-key", line.api_key, "Ask for this bearer token on /v1");
    app.add_flag("--list-presets", line.list_presets, "List the presets and exit");
    app.add_flag("--exit-on-stdin-eof", line.exit_on_stdin_eof,
                 "End when standard input ends: with the parent process");
}

void list_presets() {
    fmt::print("Presets of the simulated engine (all figures are simulated, none was measured here):\n");
    for (const auto& preset : weir::engine_model::presets())
        fmt::print("  {:<15} {:<7} k={} {:<14} {}\n", preset.name, preset.method,
                   preset.parameters.speculation.proposal_length(), preset.model, preset.summary);
}

Result<std::string> read_file(const std::string& path) {
    std::ifstream in{path, std::ios::binary};
    if (!in) return weir::base::fail(weir::base::ErrorCode::invalid_argument, fmt::format("cannot read {}", path));
    return std::string{std::istreambuf_iterator<char>{in}, {}};
}

Result<Options> base_options(const CommandLine& line) {
    if (line.config.empty()) return weir::sim::options_of_preset(line.preset.value_or("baseline"));
    auto text = read_file(line.config);
    if (!text) return std::unexpected{std::move(text).error()};
    weir::base::Problems problems;
    auto options = weir::sim::options_of_file(*text, line.config, problems);
    if (!problems.empty()) return weir::base::fail(weir::base::ErrorCode::invalid_argument, problems.format());
    return options;
}

Result<Options> make_options(const CommandLine& line) {
    auto options = base_options(line);
    if (!options) return options;
    if (line.listen) {
        auto listen = weir::base::parse_host_port(*line.listen);
        if (!listen) return std::unexpected{std::move(listen).error().within("--listen")};
        options->listen = *std::move(listen);
    }
    if (line.imitates) options->imitates = *line.imitates;
    if (line.model) options->model = *line.model;
    if (line.seed) options->seed = *line.seed;
    if (line.api_key) options->api_key = *line.api_key;
    if (auto status = weir::sim::check(*options); !status) return std::unexpected{std::move(status).error()};
    return options;
}

int serve(const Options& options, bool exit_on_stdin_eof) {
    std::signal(SIGPIPE, SIG_IGN);
    [[maybe_unused]] const auto descriptors = weir::io::raise_descriptor_limit();
    auto watch = weir::sim::ProcessWatch::create(exit_on_stdin_eof);
    if (!watch) {
        fmt::print(stderr, "weir-sim: {}\n", watch.error().message());
        return exit_environment;
    }
    auto simulator = weir::sim::Simulator::create(options);
    if (!simulator) {
        fmt::print(stderr, "weir-sim: {}\n", simulator.error().message());
        return exit_environment;
    }
    fmt::print("weir-sim listening on http://{} (simulated engine {} as {}, model {})\n", (*simulator)->address(),
               options.preset, options.imitates, options.model);
    std::fflush(stdout);
    (*watch)->start([&simulator] { (*simulator)->stop(); });
    (*simulator)->run();
    watch->reset();
    return exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "weir-sim: a simulated inference engine with speculative decoding, behind vLLM's HTTP API.\n"
        "Everything it says and measures is simulated."};
    CommandLine line;
    declare(app, line);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? exit_ok : exit_usage;
    }
    if (line.list_presets) {
        list_presets();
        return exit_ok;
    }
    const auto options = make_options(line);
    if (!options) {
        fmt::print(stderr, "weir-sim: {}\n", options.error().message());
        return exit_usage;
    }
    return serve(*options, line.exit_on_stdin_eof);
}
