// weir check: validates a configuration file offline and lists everything that is wrong with it.
#pragma once

#include <cstdio>
#include <string>

namespace weir::cli {

struct CheckOptions {
    std::string config_path;
    bool schema = false;  // print the JSON Schema of the file instead; config_path may then be empty
};

// Problems go to `out`, since they are the answer; what hinders the check goes to `err`.
// 0 = valid, 1 = problems, 3 = the file cannot be read.
[[nodiscard]] int run_check(const CheckOptions& options, std::FILE* out, std::FILE* err);

}  // namespace weir::cli
