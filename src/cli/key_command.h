// weir key: makes, lists, revokes and rotates caller keys in the store. A secret is printed once, alone on standard
// output; everything else that is said about it goes to standard error.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace weir::cli {

enum class KeyAction : std::uint8_t { create, list, revoke, rotate };

struct KeyOptions {
    KeyAction action = KeyAction::list;
    std::string config_path;
    std::string store_url;  // "" = the configuration's
    std::string format = "table";
    std::string name;       // of the new key; revoke and rotate take an id as well
    std::string tenant;
    std::string team;
    std::string application;
    std::string workload;
    std::string expires;
    std::vector<std::string> permissions;
    std::string state = "all";
    std::string grace = "24h";
};

// Where answers and explanations go, and what time it is.
struct KeyContext {
    std::FILE* out = stdout;
    std::FILE* err = stderr;
    base::WallTime now;
};

// 0 = done, 1 = refused, 2 = usage, 3 = the store cannot be reached or the secret could not be written.
[[nodiscard]] int run_key(const KeyOptions& options, const KeyContext& context);

}  // namespace weir::cli
