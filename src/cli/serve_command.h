// weir serve: runs the gateway until SIGTERM or SIGINT; SIGHUP reads the configuration again.
#pragma once

#include <string>

namespace weir::cli {

struct ServeOptions {
    std::string config_path;
};

// 0 = drained and ended, 1 = the configuration is not valid, 3 = the environment refused (port, store, log).
[[nodiscard]] int run_serve(const ServeOptions& options);

}  // namespace weir::cli
