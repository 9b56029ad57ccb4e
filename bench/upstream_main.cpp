// weir-bench-upstream: the mock upstream of the measurements, until it is ended by a signal or with its parent.
#include "base/units.h"
#include "bench/upstream.h"
#include "io/listener.h"
#include "io/reactor.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <string>

namespace {

enum ExitCode : int { exit_usage = 2, exit_environment = 3 };

int fail(ExitCode code, const weir::base::Error& error) {
    fmt::print(stderr, "weir-bench-upstream: {}\n", error.message());
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"weir-bench-upstream: a mock upstream for measurements; see bench/README.md"};
    std::string listen = "127.0.0.1:0";
    app.add_option("--listen", listen, "Address to listen on, HOST:PORT; port 0 takes a free one")
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    std::signal(SIGPIPE, SIG_IGN);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    [[maybe_unused]] const auto descriptors = weir::io::raise_descriptor_limit();

    const auto where = weir::base::parse_host_port(listen);
    if (!where) return fail(exit_usage, where.error());
    const auto address = weir::io::SocketAddress::parse(where->host, where->port);
    if (!address) return fail(exit_usage, address.error());
    auto listeners = weir::io::ListenerSet::open(*address, 1);
    if (!listeners) return fail(exit_environment, listeners.error());
    auto reactor = weir::io::Reactor::create();
    if (!reactor) return fail(exit_environment, reactor.error());
    const weir::bench::Upstream upstream{**reactor, listeners->take(0)};
    fmt::print("weir-bench-upstream listening on {}\n", listeners->address().text());
    std::fflush(stdout);
    (*reactor)->run();
    return 0;
}
