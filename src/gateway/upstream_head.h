// UpstreamHead: the request head an engine gets. An allow-list: content negotiation, Anthropic's version headers and
// trace context pass; the caller's credential, cookies and hop-by-hop fields never do. Pure.
// Source: contract.md section 3, "Headers upstream"; pitfalls P071, P104.
#pragma once

#include "http/message.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weir::gateway {

// W3C trace context, level 1: "00-<32 hex>-<16 hex>-<2 hex>", ids not all zero.
struct TraceParent {
    std::string trace_id;
    std::string flags;
};
[[nodiscard]] std::optional<TraceParent> parse_traceparent(std::string_view text);

// What of the client's head is kept once the body has been read: the head itself does not outlive that.
struct ForwardedFields {
    std::string text;  // ready "name: value\r\n" lines
    std::optional<TraceParent> trace;
};
[[nodiscard]] ForwardedFields forwarded_fields(const http::FieldTable& client);

struct UpstreamTarget {
    std::string_view path;        // "/v1/chat/completions"
    std::string_view authority;
    std::string_view credential;  // "" = none
    std::string_view request_id;  // "{id}-{attempt}"
    std::string_view span_id;     // 16 hex digits; used when the client sent a trace
    bool stream = false;
    std::size_t body_bytes = 0;
};
[[nodiscard]] std::string upstream_head(const UpstreamTarget& target, const ForwardedFields& forwarded);

}  // namespace weir::gateway
