// weir-bench-load: sends chat requests, checks the answers, and prints one JSON object of what it measured.
#include "base/json_writer.h"
#include "base/units.h"
#include "bench/load.h"
#include "io/block_on.h"
#include "io/listener.h"
#include "io/reactor.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

using weir::base::JsonWriter;
using weir::bench::LoadOptions;
using weir::bench::LoadReport;
using weir::bench::Samples;

enum ExitCode : int { exit_ok = 0, exit_failures = 1, exit_usage = 2, exit_environment = 3 };

struct CommandLine {
    std::string address = "127.0.0.1:8080";
    std::string plan = "whole";
    double seconds = 0;
    double warmup_seconds = 0;
    double timeout_seconds = 60;
    LoadOptions options{};
};

void declare(CLI::App& app, CommandLine& line) {
    auto& options = line.options;
    app.add_option("--address", line.address, "Where to send, HOST:PORT")->capture_default_str();
    app.add_option("--path", options.path, "The request's path")->capture_default_str();
    app.add_option("--authorization", options.authorization, "The Authorization header, e.g. 'Bearer KEY'");
    app.add_option("--model", options.model, "The model to ask for")->capture_default_str();
    app.add_option("--plan", line.plan,
                   "whole, paced:CHUNKS:MILLISECONDS, varied:CHUNKS:MILLISECONDS, burst:CHUNKS or idle")
        ->capture_default_str();
    app.add_option("--connections", options.connections, "Sessions, each with one connection")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    auto* const requests = app.add_option("--requests", options.requests, "End after so many requests");
    app.add_option("--seconds", line.seconds, "Measure for so long (idle: hold the streams)")->excludes(requests);
    app.add_option("--warmup", line.warmup_seconds, "Seconds of load before that")->excludes(requests);
    app.add_option("--rate", options.requests_per_second, "Requests a second at most, of all sessions together");
    app.add_option("--timeout", line.timeout_seconds, "Seconds that one read may take")->capture_default_str();
    app.add_option("--watch", options.watched, "Process whose CPU time and memory are measured (repeatable)");
}

weir::base::Nanoseconds from_seconds(double seconds) {
    return weir::base::Nanoseconds{static_cast<std::int64_t>(seconds * 1e9)};
}

weir::base::Result<LoadOptions> make_options(CommandLine& line) {
    auto where = weir::base::parse_host_port(line.address);
    if (!where) return std::unexpected{std::move(where).error().within("--address")};
    auto address = weir::io::SocketAddress::parse(where->host, where->port);
    if (!address) return std::unexpected{std::move(address).error().within("--address")};
    auto plan = weir::bench::parse_plan(line.plan);
    if (!plan) return std::unexpected{std::move(plan).error().within("--plan")};
    auto options = std::move(line.options);
    options.origin = {.address = *address, .authority = line.address};
    options.plan = *plan;
    options.window = from_seconds(line.seconds);
    options.warmup = from_seconds(line.warmup_seconds);
    options.timeout = from_seconds(line.timeout_seconds);
    options.on_idle = [](std::size_t streams) { fmt::print(stderr, "holding {} idle streams\n", streams); };
    if (options.requests == 0 && line.seconds <= 0)
        return weir::base::fail(weir::base::ErrorCode::invalid_argument, "say --requests or --seconds");
    if (options.requests > 0 && options.plan.kind == weir::bench::PlanKind::idle)
        return weir::base::fail(weir::base::ErrorCode::invalid_argument, "idle streams are held for --seconds");
    return options;
}

void write_samples(JsonWriter& json, std::string_view name, Samples& samples) {
    const auto us = [&samples](double percent) {
        return static_cast<double>(samples.percentile(percent).count()) / 1e3;
    };
    json.key(name).begin_object().member("count", samples.count());
    json.key("p50").number(us(50), 1).key("p90").number(us(90), 1);
    json.key("p99").number(us(99), 1).key("max").number(us(100), 1);
    json.end_object();
}

void write_resident(JsonWriter& json, std::string_view name, const weir::bench::Resident& resident) {
    json.key(name).begin_object().member("all_kib", resident.all_kib);
    json.member("anonymous_kib", resident.anonymous_kib).end_object();
}

std::string to_json(LoadReport report) {
    JsonWriter json;
    json.begin_object();
    json.member("requests", report.requests).member("answered", report.answered);
    json.member("failures", report.failures);
    json.key("first_failures").begin_array();
    for (const auto& failure : report.first_failures)
        json.string(failure);
    json.end_array();
    json.member("connections_opened", report.connections_opened);
    json.member("chunks", report.chunks).member("bytes", report.bytes);
    json.key("seconds").number(weir::base::to_seconds(report.window), 4);
    write_samples(json, "latency_us", report.latency);
    write_samples(json, "first_chunk_us", report.first_chunk);
    write_samples(json, "chunk_delay_us", report.chunk_delay);
    json.key("cpu").begin_array();
    for (const auto& [id, thread] : report.cpu)
        json.begin_object()
            .member("thread_id", id)
            .member("thread", thread.name)
            .member("cpu_ns", static_cast<std::int64_t>(thread.cpu.count()))
            .end_object();
    json.end_array();
    write_resident(json, "resident_before", report.resident_before);
    write_resident(json, "resident_after", report.resident_after);
    json.end_object();
    return std::move(json).take();
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"weir-bench-load: a load generator for measurements; see bench/README.md"};
    CommandLine line;
    declare(app, line);
    CLI11_PARSE(app, argc, argv);
    std::signal(SIGPIPE, SIG_IGN);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    [[maybe_unused]] const auto descriptors = weir::io::raise_descriptor_limit();
    auto options = make_options(line);
    if (!options) {
        fmt::print(stderr, "weir-bench-load: {}\n", options.error().message());
        return exit_usage;
    }
    auto reactor = weir::io::Reactor::create();
    if (!reactor) {
        fmt::print(stderr, "weir-bench-load: {}\n", reactor.error().message());
        return exit_environment;
    }
    weir::bench::Load load{**reactor, *std::move(options)};
    auto report = weir::io::block_on(**reactor, load.run());
    const bool failed = report.failures > 0;
    fmt::print("{}\n", to_json(std::move(report)));
    return failed ? exit_failures : exit_ok;
}
