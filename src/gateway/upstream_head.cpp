#include "gateway/upstream_head.h"

#include "base/text_builder.h"
#include "http/ascii.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace weir::gateway {

namespace {

// `list`: the field may stand on several lines, which together are one list; all of them pass.
struct Passed {
    std::string_view name;
    bool list = false;
};
constexpr std::array passed{Passed{"anthropic-version"}, Passed{"anthropic-beta", true},
                            Passed{"accept-language", true}, Passed{"tracestate", true}};

constexpr std::string_view trace_parent = "traceparent";

// By length and first letter: few heads have a field that passes, so they are not searched for each.
bool may_pass(std::string_view name) {
    constexpr auto lengths = [] {
        std::uint64_t bits = std::uint64_t{1} << trace_parent.size();
        for (const auto& each : passed)
            bits |= std::uint64_t{1} << each.name.size();
        return bits;
    }();
    if (name.size() >= 64 || ((lengths >> name.size()) & 1U) == 0) return false;
    const char first = http::to_lower(name.front());
    return first == trace_parent.front() ||
           std::ranges::any_of(passed, [first](const Passed& each) { return each.name.front() == first; });
}

bool is_lower_hex(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

void add(std::string& head, std::string_view name, std::string_view value) {
    head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::optional<TraceParent> parse_traceparent(std::string_view text) {
    if (text.size() != 55 || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
    const auto version = text.substr(0, 2), trace = text.substr(3, 32), span = text.substr(36, 16),
               flags = text.substr(53, 2);
    if (version != "00" || !is_lower_hex(trace) || !is_lower_hex(span) || !is_lower_hex(flags)) return std::nullopt;
    if (is_zero(trace) || is_zero(span)) return std::nullopt;
    return TraceParent{std::string{trace}, std::string{flags}};
}

ForwardedFields forwarded_fields(const http::FieldTable& client) {
    ForwardedFields kept;
    if (std::ranges::none_of(client.all(), may_pass, &http::Field::name)) return kept;
    // Two parents are none (W3C trace context 3.2.1).
    if (const auto trace = client.find(trace_parent); trace && client.count(trace_parent) == 1)
        kept.trace = parse_traceparent(*trace);
    for (const auto& [name, list] : passed) {
        // A trace state without its valid parent means nothing to anybody.
        if (name == "tracestate" && !kept.trace) continue;
        for (const auto& field : client.all()) {
            if (!http::equals_ignoring_case(field.name, name)) continue;
            add(kept.text, name, field.value);
            if (!list) break;
        }
    }
    return kept;
}

std::string upstream_head(const UpstreamTarget& target, const ForwardedFields& forwarded) {
    constexpr std::size_t fixed_bytes = 512;  // names, and what has a bounded size: numbers, ids, trace context
    base::TextBuilder head{fixed_bytes + target.path.size() + target.authority.size() + target.credential.size() +
                           target.request_id.size() + forwarded.text.size()};
    head.add("POST ");
    head.add(target.path);
    head.add(" HTTP/1.1\r\nhost: ");
    head.add(target.authority);
    head.add("\r\nuser-agent: weir\r\ncontent-type: application/json\r\ncontent-length: ");
    head.add_number(target.body_bytes);
    head.add("\r\naccept: ");
    head.add(target.stream ? "text/event-stream" : "application/json");
    head.add("\r\naccept-encoding: identity\r\nx-request-id: ");
    head.add(target.request_id);
    if (!target.credential.empty()) {
        head.add("\r\nauthorization: Bearer ");
        head.add(target.credential);
    }
    if (forwarded.trace) {
        head.add("\r\ntraceparent: 00-");
        head.add(forwarded.trace->trace_id);
        head.add("-");
        head.add(target.span_id);
        head.add("-");
        head.add(forwarded.trace->flags);
    }
    head.add("\r\n");
    head.add(forwarded.text);
    head.add("\r\n");
    return std::move(head).take();
}

}  // namespace weir::gateway
