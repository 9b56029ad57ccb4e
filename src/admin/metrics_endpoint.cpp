#include "admin/metrics_endpoint.h"

#include "admin/api.h"
#include "admin/fault.h"

#include <array>
#include <optional>
#include <utility>

namespace weir::admin {

namespace {

constexpr std::string_view exposition_type = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view text_type = "text/plain; charset=utf-8";
constexpr std::string_view json_type = "application/json";

enum class Page { metrics, livez, readyz };

std::optional<Page> page_at(std::string_view path) {
    if (path == "/metrics") return Page::metrics;
    if (path == "/livez") return Page::livez;
    if (path == "/readyz") return Page::readyz;
    return std::nullopt;
}

PlainReply error_reply(const ApiError& error, std::string_view allow = "") {
    return {.status = error.status, .content_type = json_type, .body = error_body(error), .allow = allow};
}

io::Task<void> send(PlainReply reply, http::ResponseSink& sink) {
    const std::array<http::Field, 3> fields{
        {{"content-type", reply.content_type}, {"cache-control", "no-store"}, {"allow", reply.allow}}};
    const std::size_t count = reply.allow.empty() ? 2 : 3;
    // A client that went away needs no answer; nobody else has to know.
    const auto sent = co_await sink.send(reply.status, std::span{fields}.first(count), reply.body);
    static_cast<void>(sent);
}

}  // namespace

MetricsEndpoint::MetricsEndpoint(std::function<std::string()> render_metrics, std::function<Readiness()> readiness)
    : render_metrics_{std::move(render_metrics)}, readiness_{std::move(readiness)} {}

PlainReply MetricsEndpoint::reply_to(std::string_view method, std::string_view path) const {
    const auto page = page_at(path);
    if (!page)
        return error_reply({.status = 404,
                            .code = "not_found",
                            .message = "There is nothing here; see /metrics, /livez and /readyz."});
    if (method != "GET" && method != "HEAD")
        return error_reply(
            {.status = 405, .code = "method_not_allowed", .message = "This page can only be read; use GET or HEAD."},
            "GET, HEAD");
    switch (*page) {
        case Page::metrics: return {.status = 200, .content_type = exposition_type, .body = render_metrics_()};
        case Page::livez: return {.status = 200, .content_type = text_type, .body = "alive\n"};
        case Page::readyz: break;
    }
    auto readiness = readiness_();
    return {.status = readiness.ready ? 200 : 503, .content_type = text_type, .body = std::move(readiness.why) + "\n"};
}

io::Task<void> MetricsEndpoint::handle(http::RequestSource& source, http::ResponseSink& sink) {
    const auto& head = source.head();
    // Nobody reads a body here.
    if (head.framing != http::Framing::none) sink.close_after();
    auto reply = reply_to(head.method, head.path);
    co_await send(std::move(reply), sink);
}

io::Task<void> MetricsEndpoint::reject(http::Fault fault, std::string message, http::ResponseSink& sink) {
    auto reply = error_reply(error_of(fault, std::move(message)));
    co_await send(std::move(reply), sink);
}

}  // namespace weir::admin
