#include "config/replica_url.h"

#include "base/text.h"
#include "config/types.h"

#include <string>
#include <utility>

namespace weir::config {

namespace {

constexpr std::string_view scheme = "http://";
constexpr std::string_view url_pattern = "^http://[^/?#@]+:[0-9]{1,5}/?$";

std::unexpected<base::Error> refuse_url(std::string message) {
    return base::fail(base::ErrorCode::invalid_argument, std::move(message));
}

Type<ReplicaUrl> replica_url() {
    const auto read = [](Reader& reader, const base::Node& node, ReplicaUrl& out) {
        const auto scalar = reader.scalar(node, "an address, such as http://10.0.0.1:8000");
        if (!scalar) return false;
        auto url = parse_replica_url(scalar->text);
        if (!url) return reader.refuse(node, url.error().message());
        out = std::move(*url);
        return true;
    };
    const auto schema = [](base::JsonWriter& json) {
        json.key("anyOf")
            .begin_array()
            .begin_object()
            .member("type", "string")
            .member("pattern", url_pattern)
            .end_object();
        json.begin_object().member("$ref", "#/$defs/reference").end_object().end_array();
    };
    return {.read = read, .schema = schema, .show = [](const ReplicaUrl&) { return std::nullopt; }};
}

const Table<Replicas>& dns_table() {
    static const Table<Replicas> table{
        required(field("dns", &Replicas::dns, replica_url(), "A name of which every resolved address is a replica.")),
    };
    return table;
}

}  // namespace

base::Result<ReplicaUrl> parse_replica_url(std::string_view text) {
    if (text.starts_with("https://"))
        return refuse_url("https:// to engines is not supported yet; use http:// inside a trusted network");
    if (!text.starts_with(scheme)) return refuse_url("expected an address, such as http://10.0.0.1:8000");
    auto authority = text.substr(scheme.size());
    if (authority.ends_with('/')) authority.remove_suffix(1);
    if (authority.contains('@')) return refuse_url("user and password do not belong into an address; use credential");
    if (authority.find_first_of("/?#") != std::string_view::npos)
        return refuse_url("an address ends after the port; the paths are those of the engine's API");
    auto address = base::parse_host_port(base::to_lower(authority));
    if (!address) return refuse_url("expected http://HOST:PORT, such as http://10.0.0.1:8000");
    if (address->port == 0) return refuse_url("expected a port from 1 to 65535");
    return ReplicaUrl{.text = std::string{scheme} + base::format_host_port(*address), .address = std::move(*address)};
}

Type<Replicas> replicas() {
    const auto urls = list(replica_url());
    const auto dns = object(dns_table());
    const auto read = [urls, dns](Reader& reader, const base::Node& node, Replicas& out) {
        if (node.is_map()) return dns.read(reader, node, out);
        if (node.is_sequence() && !node.children().empty()) return urls.read(reader, node, out.urls);
        return reader.refuse(node, "expected a list of at least one address, or {dns: ADDRESS}");
    };
    const auto schema = [urls, dns](base::JsonWriter& json) {
        json.key("anyOf").begin_array().begin_object().member("minItems", 1);
        urls.schema(json);
        json.end_object().begin_object();
        dns.schema(json);
        json.end_object().end_array();
    };
    return {.read = read, .schema = schema, .show = [](const Replicas&) { return std::nullopt; }};
}

}  // namespace weir::config
