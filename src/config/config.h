// Config: one YAML file, parsed, validated whole and typed. contract.md section 2 describes every key.
// Invariant: a Config that load() or parse() returned passed every check; after that it is only read, from any thread.
#pragma once

#include "base/problems.h"
#include "config/alias.h"
#include "config/engine_facts.h"
#include "config/environment.h"
#include "config/named.h"
#include "config/pool.h"
#include "config/server.h"
#include "config/storage.h"
#include "config/telemetry.h"
#include "config/tenant.h"

#include <expected>
#include <string>
#include <string_view>

namespace weir::config {

struct Config {
    std::int64_t version = 1;
    Server server;
    Store store;
    SharedLimits shared_limits;
    Telemetry telemetry;
    Named<Pool> pools;
    Named<Alias> aliases;  // find() knows synonyms too
    Named<Tenant> tenants;

    std::string file;          // as it was named
    std::string
        version_hash;  // 12 hex digits of the text's SHA-256, references not resolved: `config_version` in records
    base::Problems warnings;   // what is valid but probably not meant
};

// Reads and validates a file, aliases against what is known of engines. A file that cannot be read is one problem
// without a position.
[[nodiscard]] std::expected<Config, base::Problems> load(const std::string& path,
                                                         const Environment& environment = Environment::process(),
                                                         const EngineFacts& engines = {});

// The same for a text; `file` is its name in problems, and relative `{file: PATH}` start from its directory.
[[nodiscard]] std::expected<Config, base::Problems> parse(std::string_view text, const std::string& file,
                                                          const Environment& environment,
                                                          const EngineFacts& engines = {});

// The JSON Schema (draft 2020-12) of the file, made from the tables that parse it.
[[nodiscard]] std::string json_schema();

}  // namespace weir::config
