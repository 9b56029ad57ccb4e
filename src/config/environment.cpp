#include "config/environment.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace weir::config {

Environment Environment::process() {
    constexpr std::size_t longest_secret = 1U << 20U;
    return {.variable = [](const std::string& name) -> std::optional<std::string> {
                const char* value = std::getenv(name.c_str());
                return value == nullptr ? std::nullopt : std::optional<std::string>{value};
            },
            .file = [](const std::string& path) { return read_file(path, longest_secret); }};
}

Environment Environment::none() {
    return {.variable = [](const std::string&) { return std::nullopt; },
            .file = [](const std::string& path) -> base::Result<std::string> {
                return base::fail(base::ErrorCode::not_found, "cannot read " + path + ": no such file");
            }};
}

base::Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status))
        return base::fail(base::ErrorCode::not_found,
                          "cannot read " + path + ": " + (error ? error.message() : "no such file"));
    if (std::filesystem::is_directory(status))
        return base::fail(base::ErrorCode::unavailable, "cannot read " + path + ": it is a directory");
    std::ifstream stream{path, std::ios::binary};
    if (!stream) return base::fail(base::ErrorCode::unavailable, "cannot read " + path + ": permission denied");
    // One byte more than allowed tells a file that is too long; a size asked for beforehand would not hold for pipes.
    std::string text(max_bytes + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (stream.bad()) return base::fail(base::ErrorCode::unavailable, "cannot read " + path);
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (text.size() > max_bytes)
        return base::fail(base::ErrorCode::too_large, fmt::format("{} is larger than {} bytes", path, max_bytes));
    return text;
}

}  // namespace weir::config
