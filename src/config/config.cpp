#include "config/config.h"

#include "base/json_writer.h"
#include "base/yaml.h"
#include "config/check.h"
#include "config/tables.h"
#include "config/types.h"

#include <utility>

namespace weir::config {

namespace {

constexpr std::size_t max_file_bytes = 16U << 20U;
constexpr std::size_t hash_digits = 12;

std::string directory_of(const std::string& file) {
    const auto slash = file.rfind('/');
    return slash == std::string::npos ? std::string{} : file.substr(0, slash);
}

// From here on aliases are found by their synonyms too.
void index_synonyms(Named<Alias>& aliases) {
    for (std::size_t i = 0; i < aliases.size(); ++i)
        for (const auto& synonym : aliases[i].synonyms)
            aliases.add_synonym(synonym, i);
}

std::unexpected<base::Problems> only_problem(base::Problem problem) {
    base::Problems problems;
    problems.add(std::move(problem));
    return std::unexpected{std::move(problems)};
}

}  // namespace

const Table<Config>& config_table() {
    static const Table<Config> table{
        required(field("version", &Config::version, integer({1, 1}), "The version of this file format: 1.")),
        required(field("server", &Config::server, object(server_table()), "Listeners and limits of the process.")),
        field("store", &Config::store, object(store_table()), "The durable store."),
        field("shared_limits", &Config::shared_limits, object(shared_limits_table()),
              "Limits shared by several gateways."),
        field("telemetry", &Config::telemetry, object(telemetry_table()), "Logs, metrics and traces."),
        field("pools", &Config::pools, named(pool_table()), "Inference engines, by pool."),
        field("aliases", &Config::aliases, named(alias_table()), "What clients call, by model name."),
        field("tenants", &Config::tenants, named(tenant_table()), "Who may call."),
    };
    return table;
}

std::expected<Config, base::Problems> parse(std::string_view text, const std::string& file,
                                            const Environment& environment, const EngineFacts& engines) {
    base::Problems problems;
    const auto document = base::parse_yaml(text, file, problems, {.file_bytes = max_file_bytes});
    if (!document) return std::unexpected{std::move(problems)};

    Config config;
    config.file = file;
    config.version_hash = base::to_hex(base::sha256(text)).substr(0, hash_digits);
    Reader reader{*document, environment, directory_of(file), problems, config.warnings};
    // What cannot be read is in `problems`; the checks go over the rest all the same.
    const bool readable = read_object(reader, document->root(), config_table(), config);
    index_synonyms(config.aliases);
    const Check check{*document, config, problems, config.warnings, engines};
    if (readable || document->root().is_map()) {
        check_server(check);
        check_pools(check);
        check_aliases(check);
        check_tenants(check);
    }
    if (!problems.empty()) return std::unexpected{std::move(problems)};
    return config;
}

std::expected<Config, base::Problems> load(const std::string& path, const Environment& environment,
                                           const EngineFacts& engines) {
    const auto text = read_file(path, max_file_bytes);
    if (!text) return only_problem({path, 0, 0, "", text.error().message()});
    return parse(*text, path, environment, engines);
}

std::string json_schema() {
    base::JsonWriter json;
    json.begin_object();
    json.member("$schema", "https://json-schema.org/draft/2020-12/schema").member("title", "Weir configuration");
    json.key("$defs").begin_object().key("reference").begin_object();
    json.member("description", "${NAME} reads the environment, {file: PATH} a file.").key("anyOf").begin_array();
    json.begin_object().member("type", "string").member("pattern", "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}").end_object();
    json.begin_object().member("type", "object").key("properties").begin_object().key("file").begin_object();
    json.member("type", "string").end_object().end_object();
    json.key("required").begin_array().string("file").end_array().member("additionalProperties", false).end_object();
    json.end_array().end_object().end_object();
    write_object_schema(json, config_table());
    json.end_object();
    return std::move(json).take();
}

}  // namespace weir::config
