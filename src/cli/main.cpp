#include "base/time.h"
#include "cli/check_command.h"
#include "cli/exit_codes.h"
#include "cli/explain_command.h"
#include "cli/key_options.h"
#include "cli/request_command.h"
#include "cli/serve_command.h"
#include "cli/version_command.h"

#include <CLI/CLI.hpp>

namespace {

CLI::App* add_explain(CLI::App& app, weir::cli::ExplainOptions& options) {
    auto* command = app.add_subcommand(
        "explain",
        "Say what would become of a request, and why, without sending it: the pools that could serve it, a reason\n"
        "for each that could not, and the choice. Exit codes: 0 it would be served, 1 it would be refused, 2 usage,\n"
        "3 a file cannot be read or used, or the gateway does not answer.");
    command->add_option("--config", options.config_path, "Offline: the configuration file (YAML)");
    command
        ->add_option_function<std::string>(
            "--admin", [&options](const std::string& url) { options.admin_url = url; },
            std::string{"Ask the running gateway at this URL, with its live signals; alone: "} +
                weir::cli::default_admin_url + ". WEIR_ADMIN_TOKEN is sent when set")
        ->expected(0, 1)
        ->default_str(weir::cli::default_admin_url);
    command->add_option("--request", options.request_path, "The request's body (JSON); - is standard input")
        ->required();
    command->add_option("--key", options.key, "Whose request: a key's NAME, or TENANT/NAME; the only one when absent");
    command->add_option("--endpoint", options.endpoint, "The operation")->capture_default_str();
    command
        ->add_option_function<std::string>(
            "--format", [&options](const std::string& format) { options.json = format == "json"; }, "table or json")
        ->check(CLI::IsMember({"table", "json"}));
    return command;
}

CLI::App* add_request(CLI::App& app, weir::cli::RequestOptions& options) {
    auto* request = app.add_subcommand("request", "What became of a request.");
    request->require_subcommand(1);
    auto* show =
        request->add_subcommand("show",
                                "Show one request in full: its record with the decision and every attempt.\n"
                                "Exit codes: 0 shown, 1 there is no record of it, 2 usage, 3 no gateway answers.");
    show->add_option("ID", options.id, "What x-request-id said")->required();
    show->add_option("--admin", options.admin_url, "The running gateway; WEIR_ADMIN_TOKEN is sent when set")
        ->capture_default_str();
    show->add_option_function<std::string>(
            "--format", [&options](const std::string& format) { options.json = format == "json"; }, "table or json")
        ->check(CLI::IsMember({"table", "json"}));
    return show;
}

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
    weir::cli::ExplainOptions explain;
    auto* explain_command = add_explain(app, explain);

    weir::cli::RequestOptions request;
    auto* request_show = add_request(app, request);

    auto* version_command = app.add_subcommand("version", "Print version, build, compiler and library versions.");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? 0 : weir::cli::exit_usage;
    }
    if (*explain_command) return weir::cli::run_explain(explain, stdin, stdout, stderr);
    if (*serve_command) return weir::cli::run_serve(serve);
    if (*key_command) return weir::cli::run_key(key, {.now = weir::base::wall_now()});
    if (*request_show) return weir::cli::show_request(request, stdout, stderr);
    if (*version_command) {
        weir::cli::print_version(stdout);
        return 0;
    }
    if (!check.schema && check.config_path.empty()) {
        std::fputs("weir check: --config FILE is needed (or --schema)\n", stderr);
        return weir::cli::exit_usage;
    }
    return weir::cli::run_check(check, stdout, stderr);
}
