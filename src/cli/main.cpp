#include "base/time.h"
#include "cli/check_command.h"
#include "cli/key_command.h"
#include "cli/serve_command.h"
#include "cli/version_command.h"

#include <CLI/CLI.hpp>

namespace {

constexpr int exit_usage = 2;

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "Weir: an AI gateway for fleets of self-hosted LLM inference pools.\n"
        "Exit codes: 0 done, 1 the answer is no or a check failed, 2 usage, 3 environment."};
    app.require_subcommand(1);
    app.set_version_flag("--version", [] {
        weir::cli::print_version(stdout);
        return std::string{};
    });

    weir::cli::ServeOptions serve;
    auto* serve_command =
        app.add_subcommand("serve", "Run the gateway. SIGHUP reads the configuration again; SIGTERM drains and ends.");
    serve_command->add_option("--config", serve.config_path, "The configuration file (YAML)")->required();

    weir::cli::CheckOptions check;
    auto* check_command =
        app.add_subcommand("check", "Validate a configuration file and list every error with its position.");
    auto* check_config = check_command->add_option("--config", check.config_path, "The configuration file (YAML)");
    check_command->add_flag("--schema", check.schema, "Print the JSON Schema of the configuration file instead");
    check_config->required(false);

    weir::cli::KeyOptions key;
    auto* key_command = weir::cli::add_key_command(app, key);

    auto* version_command = app.add_subcommand("version", "Print version, build, compiler and library versions.");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? 0 : exit_usage;
    }
    if (*serve_command) return weir::cli::run_serve(serve);
    if (*key_command) return weir::cli::run_key(key, {.now = weir::base::wall_now()});
    if (*version_command) {
        weir::cli::print_version(stdout);
        return 0;
    }
    if (!check.schema && check.config_path.empty()) {
        std::fputs("weir check: --config FILE is needed (or --schema)\n", stderr);
        return exit_usage;
    }
    return weir::cli::run_check(check, stdout, stderr);
}
