// Options: what a weir-sim process simulates and where it listens, from a preset, a file and the command line.
// Later sources win: preset, file, command line. Plain values.
#pragma once

#include "base/problems.h"
#include "base/result.h"
#include "base/units.h"
#include "engine_model/parameters.h"
#include "sim/chat_plan.h"

#include <cstdint>
#include <string>

namespace weir::sim {

struct Options {
    base::HostPort listen{.host = "127.0.0.1", .port = 8000};
    std::string preset = "baseline";
    std::string imitates = "vllm:0.22";  // engine and version
    std::string model;                   // "" = the preset's
    std::uint64_t seed = 1;
    std::string api_key;                 // "" = none is asked for
    engine_model::Parameters engine;     // the preset's, with what the file changes
};

// Starts from a preset. Errors: not_found, with the names there are.
[[nodiscard]] base::Result<Options> options_of_preset(const std::string& preset);

// Reads a file (YAML, of which JSON is a part) on top of the preset it names. Everything wrong is in `problems`.
[[nodiscard]] Options options_of_file(std::string_view text, const std::string& file, base::Problems& problems);

// Checks what belongs together. Errors: invalid_argument.
[[nodiscard]] base::Status check(const Options& options);

// Precondition: check(options) is ok.
[[nodiscard]] ServedModel served_model(const Options& options);

}  // namespace weir::sim
