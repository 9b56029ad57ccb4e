// Checks across keys, after every key has been parsed on its own. Internal to config.
// What failed to parse is an empty value by then; the checks pass over it, so that one mistake is reported once.
#pragma once

#include "base/node.h"
#include "base/problems.h"
#include "config/config.h"
#include "config/engine_facts.h"

#include <string>
#include <utility>
#include <vector>

namespace weir::config {

// Keys and list indices from the root: {"aliases", "chat", "pools", "0"}.
using Path = std::vector<std::string>;

struct Check {
    const base::Document& document;
    const Config& config;
    base::Problems& problems;
    base::Problems& warnings;
    const EngineFacts& engines;

    void refuse(const Path& path, std::string message) const {
        problems.add(document.problem_at(path, std::move(message)));
    }
    void warn(const Path& path, std::string message) const {
        warnings.add(document.problem_at(path, std::move(message)));
    }
};

void check_server(const Check& check);
void check_pools(const Check& check);
void check_aliases(const Check& check);
void check_contract(const Check& check, const Alias& alias);  // one alias against its pools
void check_tenants(const Check& check);

}  // namespace weir::config
