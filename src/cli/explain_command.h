// weir explain: what would become of a request: who the caller is, which pools could serve it, why the others could
// not, and which is chosen. Nothing is sent to any engine. Offline from a configuration, or by a running gateway.
#pragma once

#include "model/endpoint.h"

#include <cstdio>
#include <optional>
#include <string>

namespace weir::cli {

struct ExplainOptions {
    std::string config_path{};
    std::optional<std::string> admin_url{};  // ask the gateway there; then config_path is ""
    std::string request_path{};              // "-" = standard input
    std::string key{};                       // "" = the only one there is, or nobody in particular
    std::string endpoint{name_of(model::Endpoint::chat_completions)};
    bool json = false;
};

// 0 = it would be served, 1 = it would be refused, 2 = the options make no sense (no such key or endpoint), 3 = a file
// cannot be read, the configuration is not valid, or the gateway does not answer.
[[nodiscard]] int run_explain(const ExplainOptions& options, std::FILE* in, std::FILE* out, std::FILE* err);

}  // namespace weir::cli
