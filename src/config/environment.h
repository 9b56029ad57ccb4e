// Environment: how `${NAME}` and `{file: PATH}` in a configuration are answered; tests give their own answers.
#pragma once

#include "base/result.h"

#include <functional>
#include <optional>
#include <string>

namespace weir::config {

struct Environment {
    // The value of a variable; nullopt when it is not set.
    std::function<std::optional<std::string>(const std::string& name)> variable;
    // The contents of a file.
    std::function<base::Result<std::string>(const std::string& path)> file;

    // The process's environment and file system.
    [[nodiscard]] static Environment process();
    // No variable and no file exists.
    [[nodiscard]] static Environment none();
};

// A whole regular file of at most max_bytes: not_found, unavailable or too_large otherwise.
[[nodiscard]] base::Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

}  // namespace weir::config
