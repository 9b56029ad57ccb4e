#include "admin/metrics_endpoint.h"

#include "base/json_writer.h"

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

struct Problem {
    int status;
    std::string_view code;
    std::string_view message;
};

PlainReply problem_reply(const Problem& problem, std::string_view allow = "") {
    base::JsonWriter json;
    json.begin_object().key("error").begin_object();
    json.member("message", problem.message).member("type", "invalid_request_error").member("code", problem.code);
    json.end_object().end_object();
    return {.status = problem.status, .content_type = json_type, .body = std::move(json).take(), .allow = allow};
}

Problem problem_of(http::Fault fault, std::string_view message) {
    switch (fault) {
        case http::Fault::malformed:
        case http::Fault::client_closed:
        case http::Fault::unsupported_version: return {400, "invalid_http", message};
        case http::Fault::slow: return {408, "request_timeout", message};
        case http::Fault::body_too_large: return {413, "request_too_large", message};
        case http::Fault::head_too_large: return {431, "header_too_large", message};
    }
    return {400, "invalid_http", message};
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
    if (!page) return problem_reply({404, "not_found", "There is nothing here; see /metrics, /livez and /readyz."});
    if (method != "GET" && method != "HEAD")
        return problem_reply({405, "method_not_allowed", "This page can only be read; use GET or HEAD."}, "GET, HEAD");
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
    auto reply = problem_reply(problem_of(fault, message));
    co_await send(std::move(reply), sink);
}

}  // namespace weir::admin
