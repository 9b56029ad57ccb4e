#include "config/server.h"

#include "config/tables.h"
#include "config/types.h"

#include <array>

namespace weir::config {

using namespace std::chrono_literals;

std::string_view name_of(Role role) noexcept {
    switch (role) {
        case Role::viewer: return "viewer";
        case Role::operator_: return "operator";
        case Role::approver: return "approver";
        case Role::admin: return "admin";
    }
    return "";
}

namespace {

constexpr std::array all_roles{Role::viewer, Role::operator_, Role::approver, Role::admin};
constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;

const Table<Drain>& drain_table() {
    static const Table<Drain> table{
        field("delay", &Drain::delay, duration({0s, 1h}),
              "After SIGTERM, readyz fails and connections are still accepted for so long."),
        field("timeout", &Drain::timeout, duration({0s, 24h}), "Then requests in flight may finish for so long."),
    };
    return table;
}

const Table<Tls>& tls_table() {
    static const Table<Tls> table{
        required(field("cert", &Tls::certificate_path, text(), "The certificate chain, a PEM file.")),
        required(field("key", &Tls::key_path, text(), "Its private key, a PEM file.")),
    };
    return table;
}

const Table<ServerLimits>& server_limits_table() {
    using L = ServerLimits;
    const auto timeout = duration({1ms, 24h});
    static const Table<L> table{
        field("body", &L::body_bytes, size({kib, gib}), "The largest request body."),
        field("header", &L::header_bytes, size({kib, mib}), "The largest request head."),
        field("response_body", &L::response_body_bytes, size({kib, 4 * gib}),
              "The largest response that is not streamed."),
        field("header_timeout", &L::header_timeout, timeout,
              "From the first byte of a request to the end of its head."),
        field("body_timeout", &L::body_timeout, timeout, "From the end of the head to the end of the body."),
        field("idle_timeout", &L::idle_timeout, timeout, "Between two requests of a connection."),
        field("write_stall_timeout", &L::write_stall_timeout, timeout,
              "How long a client may take no byte of a response."),
        field("connections", &L::connections, count({1, 10'000'000}), "Client connections at once."),
        field("buffered_bytes", &L::buffered_bytes, size({mib, 1024 * gib}),
              "Everything held for clients and engines at once."),
    };
    return table;
}

const Table<AdminToken>& admin_token_table() {
    static const Table<AdminToken> table{
        required(field("name", &AdminToken::name, name(), "Who it is, in the audit trail.")),
        required(field("sha256", &AdminToken::sha256, sha256_digest(), "The SHA-256 of the token.")),
        required(field("role", &AdminToken::role, choice(named_choices(all_roles)), "What it may do.")),
    };
    return table;
}

// `auto` is 0.
Type<std::uint32_t> workers() {
    auto type = count({1, 1024});
    type.read = [read = type.read](Reader& reader, const base::Node& node, std::uint32_t& out) {
        if (!node.is_scalar() || node.text() != "auto") return read(reader, node, out);
        out = 0;
        return true;
    };
    type.schema = [schema = type.schema](base::JsonWriter& json) {
        json.key("anyOf").begin_array().begin_object().member("const", "auto").end_object().begin_object();
        schema(json);
        json.end_object().end_array();
    };
    type.show = [](const std::uint32_t& value) -> std::optional<std::string> {
        return value == 0 ? "\"auto\"" : std::to_string(value);
    };
    return type;
}

}  // namespace

const Table<Server>& server_table() {
    static const Table<Server> table{
        required(field("listen", &Server::listen, host_port(), "Where clients connect.")),
        field("admin_listen", &Server::admin_listen, host_port(), "The admin API and the dashboard."),
        field("metrics_listen", &Server::metrics_listen, host_port(), "/metrics, /livez and /readyz; nothing else."),
        field("workers", &Server::workers, workers(), "Threads that carry requests; auto is one per core."),
        field("drain", &Server::drain, object(drain_table()), "What happens after SIGTERM."),
        field("tls", &Server::tls, object(tls_table()), "TLS for clients; plain HTTP when absent."),
        field("limits", &Server::limits, object(server_limits_table()),
              "Bounds of every connection and of the process."),
        field("admin_tokens", &Server::admin_tokens, list(object(admin_token_table())), "Who may use the admin API."),
        field("admin_hosts", &Server::admin_hosts, list(name()),
              "Further names (the Host field) under which the admin API may be called."),
    };
    return table;
}

}  // namespace weir::config
