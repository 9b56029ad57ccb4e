#include "cli/explain_command.h"

#include "base/percent.h"
#include "base/text.h"
#include "cli/admin_client.h"
#include "cli/exit_codes.h"
#include "cli/explain_text.h"
#include "config/config.h"
#include "engine/contract_facts.h"
#include "gateway/caller_keys.h"
#include "gateway/explain.h"
#include "routing/replica_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace weir::cli {

namespace {

using base::ErrorCode;
using base::Result;

constexpr std::uint64_t longest_body = 1ULL << 30U;  // that a gateway can be configured to take

void write(std::FILE* to, std::string_view text) { std::fwrite(text.data(), 1, text.size(), to); }

int complain(std::FILE* err, int code, std::string_view message) {
    write(err, fmt::format("weir explain: {}\n", message));
    return code;
}

// At most one byte more than `limit_bytes`, which is enough to see that it is too long.
Result<std::string> read_stream(std::FILE* file, const std::string& name, std::uint64_t limit_bytes) {
    std::string body;
    std::array<char, 64 * 1024> chunk{};
    while (body.size() <= limit_bytes) {
        const auto wanted = std::min<std::uint64_t>(chunk.size(), limit_bytes + 1 - body.size());
        const auto count = std::fread(chunk.data(), 1, wanted, file);
        body.append(chunk.data(), count);
        if (count < wanted) break;
    }
    if (std::ferror(file) != 0)
        return base::fail(ErrorCode::unavailable, fmt::format("cannot read {}: {}", name, std::strerror(errno)));
    return body;
}

Result<std::string> read_request(const std::string& path, std::FILE* in, std::uint64_t limit_bytes) {
    if (path == "-") return read_stream(in, "standard input", limit_bytes);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "rb"), std::fclose};
    if (!file) return base::fail(ErrorCode::unavailable, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    return read_stream(file.get(), path, limit_bytes);
}

Result<model::Endpoint> endpoint_of(const std::string& name) {
    if (const auto endpoint = model::endpoint_from_name(name)) return *endpoint;
    std::vector<std::string_view> known;
    for (const auto endpoint : model::all_endpoints)
        known.push_back(name_of(endpoint));
    return base::fail(ErrorCode::invalid_argument,
                      fmt::format("--endpoint: there is no {}; use {}", base::quoted(name), base::join_or(known)));
}

int show(const std::string& json, bool as_json, std::FILE* out, std::FILE* err) {
    const auto shown = explain_text(json);
    if (!shown) return complain(err, exit_environment, shown.error().message());
    write(out, as_json ? json + "\n" : shown->text);
    return shown->served ? exit_done : exit_no;
}

int explain_offline(const ExplainOptions& options, model::Endpoint endpoint, std::FILE* in, std::FILE* out,
                    std::FILE* err) {
    auto config = config::load(options.config_path, config::Environment::process(), engine::contract_facts());
    if (!config) {
        write(err, config.error().format());
        return complain(err, exit_environment, "the configuration cannot be used; see weir check");
    }
    auto body = read_request(options.request_path, in, config->server.limits.body_bytes);
    if (!body) return complain(err, exit_environment, body.error().message());
    routing::ReplicaTable replicas;
    const auto snapshot = gateway::make_snapshot(*std::move(config), replicas);
    if (!snapshot) return complain(err, exit_environment, snapshot.error().message());
    auto keys = gateway::configured_keys((*snapshot)->config);
    if (!keys) return complain(err, exit_environment, keys.error().message());
    const auth::KeyLayer configured{std::make_shared<const auth::KeySet>(*std::move(keys)),
                                    gateway::key_binder(*snapshot)};
    const gateway::Tables tables{.snapshot = *snapshot,
                                 .keys = std::make_shared<const auth::KeyTable>(auth::KeyTable::Layers{configured})};
    const auto explanation =
        gateway::explain(tables, {.body = *std::move(body), .endpoint = endpoint, .key = options.key},
                         {.now = base::wall_now(), .live = false, .draining = false});
    if (!explanation)
        return complain(err, exit_usage,
                        fmt::format("--key: {} (keys made by weir key are in the store: ask the running gateway, with "
                                    "--admin)",
                                    explanation.error().message()));
    return show(gateway::to_json(*explanation), options.json, out, err);
}

// All that is known when the gateway did not even read the body.
std::string too_large(model::Endpoint endpoint, std::size_t body_bytes) {
    gateway::Explanation explanation;
    explanation.live = true;
    explanation.endpoint = endpoint;
    explanation.body_bytes = body_bytes;
    explanation.refusal = gateway::body_too_large(std::nullopt);
    explanation.advice = "Raise server.limits.body of the gateway, or send less.";
    explanation.notes.emplace_back("The gateway did not read the body, so neither caller nor pools were looked at.");
    return gateway::to_json(explanation);
}

int explain_live(const ExplainOptions& options, model::Endpoint endpoint, std::FILE* in, std::FILE* out,
                 std::FILE* err) {
    const auto body = read_request(options.request_path, in, longest_body);
    if (!body) return complain(err, exit_environment, body.error().message());
    std::string target = fmt::format("/admin/v1/explain?endpoint={}", name_of(endpoint));
    if (!options.key.empty()) target += "&key=" + base::percent_encoded(options.key);
    const auto reply =
        call_admin(*options.admin_url, {.method = "POST", .target = target, .body = *body}, admin_token());
    if (!reply) return complain(err, exit_code_of(reply.error()), why_not_called(reply.error()));
    if (reply->status == 200) return show(reply->body, options.json, out, err);
    if (reply->status == 413) return show(too_large(endpoint, body->size()), options.json, out, err);
    const bool usage = reply->error_code == "invalid_request";
    return complain(err, usage ? exit_usage : exit_environment, refused_call(*options.admin_url, *reply));
}

}  // namespace

int run_explain(const ExplainOptions& options, std::FILE* in, std::FILE* out, std::FILE* err) {
    const auto endpoint = endpoint_of(options.endpoint);
    if (!endpoint) return complain(err, exit_usage, endpoint.error().message());
    if (options.config_path.empty() == !options.admin_url.has_value())
        return complain(err, exit_usage, "give either --config FILE or --admin URL (a running gateway)");
    if (options.admin_url) return explain_live(options, *endpoint, in, out, err);
    return explain_offline(options, *endpoint, in, out, err);
}

}  // namespace weir::cli
