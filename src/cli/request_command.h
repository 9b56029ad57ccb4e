// weir request show: one request in full, from the record that a running gateway has stored of it.
#pragma once

#include "cli/admin_client.h"

#include <cstdio>
#include <string>

namespace weir::cli {

struct RequestOptions {
    std::string id{};  // as x-request-id said
    std::string admin_url{default_admin_url};
    bool json = false;
};

// 0 = shown, 1 = there is no record of it, 2 = the options make no sense, 3 = the gateway does not answer as it should.
[[nodiscard]] int show_request(const RequestOptions& options, std::FILE* out, std::FILE* err);

}  // namespace weir::cli
