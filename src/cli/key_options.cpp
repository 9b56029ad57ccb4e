#include "cli/key_options.h"

namespace weir::cli {

namespace {

void add_common(CLI::App* command, KeyOptions& options) {
    command->add_option("--config", options.config_path, "The configuration file: says where the store is");
    command->add_option("--store", options.store_url,
                        "The store, such as sqlite:weir.db (default: the configuration's)");
    command->add_option("--format", options.format, "table (for people) or json")
        ->check(CLI::IsMember({"table", "json"}));
}

CLI::App* add_action(CLI::App* key, const std::string& name, const std::string& help, KeyOptions& options,
                     KeyAction action) {
    auto* command = key->add_subcommand(name, help);
    add_common(command, options);
    command->callback([&options, action] { options.action = action; });
    return command;
}

void add_create(CLI::App* key, KeyOptions& options) {
    auto* create =
        add_action(key, "create",
                   "Make a key and print its secret, once, on standard output. With --config its tenant, team "
                   "and application are checked.",
                   options, KeyAction::create);
    create->add_option("--name", options.name, "What it is called in records; unique within the tenant")->required();
    create->add_option("--tenant", options.tenant, "Whose key it is")->required();
    create->add_option("--team", options.team, "One of the tenant's teams");
    create->add_option("--application", options.application, "One of the team's applications");
    create->add_option("--workload", options.workload,
                       "The traffic class of its requests (default: the application's)");
    create->add_option("--expires", options.expires,
                       "The last day on which it works, in UTC (2027-06-30), or how long it works (90d)");
    create->add_option("--permission", options.permissions, "What it may ask for beyond requests; may be repeated")
        ->delimiter(',')
        ->allow_extra_args(false);
}

void add_list(CLI::App* key, KeyOptions& options) {
    auto* list = add_action(key, "list", "List keys; secrets are not known.", options, KeyAction::list);
    list->add_option("--name", options.name, "Only keys of this name");
    list->add_option("--tenant", options.tenant, "Only keys of this tenant");
    list->add_option("--team", options.team, "Only keys of this team");
    list->add_option("--application", options.application, "Only keys of this application");
    list->add_option("--state", options.state, "Only active, expired or revoked keys")
        ->check(CLI::IsMember({"active", "expired", "revoked", "all"}));
}

void add_which(CLI::App* command, KeyOptions& options) {
    command->add_option("key", options.name, "The key's name or id")->required();
    command->add_option("--tenant", options.tenant, "Whose key it is, when several tenants have one of that name");
}

}  // namespace

CLI::App* add_key_command(CLI::App& app, KeyOptions& options) {
    auto* key =
        app.add_subcommand("key", "Make, list, revoke and rotate caller keys. A running gateway follows within 2 s.");
    key->require_subcommand(1);
    add_create(key, options);
    add_list(key, options);
    add_which(
        add_action(key, "revoke", "Make a key and all its secrets useless, for good.", options, KeyAction::revoke),
        options);
    auto* rotate = add_action(key, "rotate", "Give a key a new secret and print it, once, on standard output.", options,
                              KeyAction::rotate);
    add_which(rotate, options);
    rotate->add_option("--grace", options.grace, "How long the old secret goes on working; 0s ends it at once")
        ->capture_default_str();
    return key;
}

}  // namespace weir::cli
