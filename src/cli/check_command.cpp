#include "cli/check_command.h"

#include "cli/exit_codes.h"
#include "config/config.h"
#include "engine/contract_facts.h"

#include <fmt/format.h>

#include <string_view>

namespace weir::cli {

namespace {

constexpr std::size_t max_file_bytes = 16U << 20U;

void write(std::FILE* to, std::string_view text) { std::fwrite(text.data(), 1, text.size(), to); }

std::string counted(std::size_t count, std::string_view word, std::string_view many) {
    return fmt::format("{} {}", count, count == 1 ? word : many);
}

std::string summary(const config::Config& config) {
    std::size_t keys = 0;
    for (const auto& tenant : config.tenants)
        keys += tenant.keys.size();
    return fmt::format("{}: ok ({}, {}, {}, {})\n", config.file, counted(config.pools.size(), "pool", "pools"),
                       counted(config.aliases.size(), "alias", "aliases"),
                       counted(config.tenants.size(), "tenant", "tenants"), counted(keys, "key", "keys"));
}

std::string warnings(const config::Config& config) {
    std::string text;
    for (auto problem : config.warnings.sorted()) {
        problem.message.insert(0, "warning: ");
        text += base::format(problem) + "\n";
    }
    return text;
}

}  // namespace

int run_check(const CheckOptions& options, std::FILE* out, std::FILE* err) {
    if (options.schema) {
        write(out, config::json_schema() + "\n");
        return exit_done;
    }
    const auto text = config::read_file(options.config_path, max_file_bytes);
    if (!text) {
        write(err, "weir check: " + text.error().message() + "\n");
        return exit_environment;
    }
    const auto config =
        config::parse(*text, options.config_path, config::Environment::process(), engine::contract_facts());
    if (!config) {
        write(out, config.error().format());
        return exit_no;
    }
    write(out, warnings(*config));
    write(out, summary(*config));
    return exit_done;
}

}  // namespace weir::cli
