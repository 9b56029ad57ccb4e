#include "cli/request_command.h"

#include "base/percent.h"
#include "cli/exit_codes.h"
#include "cli/record_text.h"

#include <fmt/format.h>

#include <string_view>

namespace weir::cli {

namespace {

int complain(std::FILE* err, int code, std::string_view message) {
    const auto line = fmt::format("weir request show: {}\n", message);
    std::fwrite(line.data(), 1, line.size(), err);
    return code;
}

}  // namespace

int show_request(const RequestOptions& options, std::FILE* out, std::FILE* err) {
    if (options.id.empty()) return complain(err, exit_usage, "an id is needed: what x-request-id said");
    const auto target = "/admin/v1/requests/" + base::percent_encoded(options.id);
    const auto reply = call_admin(options.admin_url, {.method = "GET", .target = target}, admin_token());
    if (!reply) return complain(err, exit_code_of(reply.error()), why_not_called(reply.error()));
    if (reply->status == 404 && reply->error_param == "id") return complain(err, exit_no, reply->error_message);
    if (reply->status != 200) return complain(err, exit_environment, refused_call(options.admin_url, *reply));
    const auto text = record_text(reply->body);
    if (!text) return complain(err, exit_environment, text.error().message());
    const auto& shown = options.json ? reply->body + "\n" : *text;
    std::fwrite(shown.data(), 1, shown.size(), out);
    return exit_done;
}

}  // namespace weir::cli
