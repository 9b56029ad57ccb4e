// The options of `weir key`, as the command line's parser knows them.
#pragma once

#include "cli/key_command.h"

#include <CLI/CLI.hpp>

namespace weir::cli {

// Declares `weir key …`; parsing fills `options`, which outlives `app`. The subcommand that was made.
CLI::App* add_key_command(CLI::App& app, KeyOptions& options);

}  // namespace weir::cli
