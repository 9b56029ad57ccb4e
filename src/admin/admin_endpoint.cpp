#include "admin/admin_endpoint.h"

#include "admin/fault.h"
#include "base/exception_text.h"
#include "http/ascii.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <utility>

namespace weir::admin {

using namespace std::chrono_literals;

namespace {

bool changes(std::string_view method) noexcept { return method != "GET" && method != "HEAD"; }

constexpr std::string_view id_segment = "{id}";

// What the path has in the place of the route's "{id}": "" for a route without; nullopt = it is another path.
std::optional<std::string_view> id_in(std::string_view path, const Route& route) noexcept {
    if (!route.path.ends_with(id_segment)) return path == route.path ? std::optional{std::string_view{}} : std::nullopt;
    const auto prefix = route.path.substr(0, route.path.size() - id_segment.size());
    if (!path.starts_with(prefix)) return std::nullopt;
    const auto id = path.substr(prefix.size());
    return id.empty() || id.contains('/') ? std::nullopt : std::optional{id};
}

// One of the bodies that may be held; given back at destruction.
class BodyPlace {
public:
    explicit BodyPlace(std::size_t& taken) noexcept : taken_{taken} { ++taken_; }
    BodyPlace(const BodyPlace&) = delete;
    BodyPlace& operator=(const BodyPlace&) = delete;
    ~BodyPlace() { --taken_; }

private:
    std::size_t& taken_;
};

io::Task<void> send(ApiReply reply, http::ResponseSink& sink) {
    const std::string retry_after = reply.retry_after_s ? std::to_string(*reply.retry_after_s) : "";
    std::vector<http::Field> fields{
        {"content-type", "application/json"}, {"cache-control", "no-store"}, {"x-content-type-options", "nosniff"}};
    if (!reply.reason.empty()) fields.push_back({"x-weir-reason", reply.reason});
    if (!reply.allow.empty()) fields.push_back({"allow", reply.allow});
    if (!retry_after.empty()) fields.push_back({"retry-after", retry_after});
    if (reply.status == 401) fields.push_back({"www-authenticate", "Bearer"});
    // A client that went away needs no answer; nobody else has to know.
    const auto sent = co_await sink.send(reply.status, fields, reply.body);
    static_cast<void>(sent);
}

}  // namespace

http::ServerLimits server_limits(std::size_t body_bytes) {
    return {.header_bytes = 16 * 1024,
            .body_bytes = body_bytes,
            .header_timeout = 10s,
            .body_timeout = 60s,
            .idle_timeout = 75s,
            .write_stall_timeout = 30s};
}

void turn_away(int descriptor) {
    const std::string body = error_body({.status = 503,
                                         .code = "overloaded",
                                         .message = "This listener has as many connections as it may; try again "
                                                    "shortly."});
    const std::string reply = fmt::format(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nx-weir-reason: overloaded\r\n"
        "retry-after: 1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{}",
        body.size(), body);
    static_cast<void>(::send(descriptor, reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    ::shutdown(descriptor, SHUT_WR);
    ::close(descriptor);
}

AdminEndpoint::AdminEndpoint(std::vector<Route> routes, AccessRules rules,
                             std::function<void(const std::string&)> on_bug)
    : routes_{std::move(routes)}, rules_{std::move(rules)}, on_bug_{std::move(on_bug)} {}

std::variant<const Route*, ApiReply> AdminEndpoint::find_route(std::string_view method, std::string_view path) const {
    std::string allow;
    for (const auto& route : routes_) {
        if (!id_in(path, route)) continue;
        if (route.method == method || (method == "HEAD" && route.method == "GET")) return &route;
        allow.append(allow.empty() ? "" : ", ").append(route.method == "GET" ? "GET, HEAD" : route.method);
    }
    if (allow.empty())
        return reply_with({.status = 404, .code = "not_found", .message = "There is nothing at this path."});
    auto reply = reply_with({.status = 405,
                             .code = "method_not_allowed",
                             .message = fmt::format("{} is not allowed here; use {}.", method.substr(0, 16), allow)});
    reply.allow = std::move(allow);
    return reply;
}

std::variant<AdminEndpoint::Admitted, ApiReply> AdminEndpoint::admit(const http::RequestHead& head) const {
    const auto& fields = head.fields;
    if (!host_allowed(rules_, fields.find("host").value_or("")))
        return reply_with({.status = 403,
                           .code = "host_not_allowed",
                           .message = "The Host field names another host; call the admin API by a loopback name, by "
                                      "the address it listens on, or list the name in server.admin_hosts."});
    auto principal =
        authenticate(rules_, fields.count("authorization") == 1 ? fields.find("authorization") : std::nullopt);
    if (!principal)
        return reply_with({.status = 401,
                           .code = "invalid_admin_token",
                           .message = "The admin token is missing or not valid. Send one of server.admin_tokens as "
                                      "'Authorization: Bearer TOKEN'."});
    auto found = find_route(head.method, head.path);
    if (auto* refused = std::get_if<ApiReply>(&found)) return std::move(*refused);
    const auto* route = std::get<const Route*>(found);
    if (!allows(principal->role, route->needed))
        return reply_with({.status = 403,
                           .code = "role_not_allowed",
                           .message = fmt::format("This needs the role {}, and the token {} has the role {}.",
                                                  name_of(route->needed), principal->name, name_of(principal->role))});
    // A browser sends a page's form, but not this type, to another site without asking that site first.
    if (changes(head.method) && !http::media_type_is(fields.find("content-type").value_or(""), "application/json"))
        return reply_with(
            {.status = 415, .code = "unsupported_media_type", .message = "Send 'Content-Type: application/json'."});
    return Admitted{.route = route, .principal = *std::move(principal), .id = *id_in(head.path, *route)};
}

io::Task<ApiReply> AdminEndpoint::answer(http::RequestSource& source, http::ResponseSink& sink) {
    const auto& head = source.head();
    const bool has_body = head.framing != http::Framing::none;
    auto admitted = admit(head);
    if (auto* refused = std::get_if<ApiReply>(&admitted)) {
        if (has_body) sink.close_after();  // nobody reads it
        co_return std::move(*refused);
    }
    auto& [route, principal, id] = std::get<Admitted>(admitted);
    ApiRequest request{
        .principal = std::move(principal), .id = std::string{id}, .query = parse_query(head.query), .body = {}};
    if (!has_body) co_return co_await route->act(std::move(request));
    if (bodies_ >= max_bodies) {
        sink.close_after();
        co_return reply_with({.status = 503,
                              .code = "overloaded",
                              .message = "The admin API reads as many bodies as it may at once; try again shortly."});
    }
    const BodyPlace place{bodies_};
    auto body = co_await source.read_body();
    if (!body) {
        sink.close_after();
        co_return reply_with(error_of(body.error().fault, body.error().message));
    }
    request.body = *std::move(body);
    co_return co_await route->act(std::move(request));
}

io::Task<void> AdminEndpoint::handle(http::RequestSource& source, http::ResponseSink& sink) {
    auto reply = co_await answer(source, sink);
    co_await send(std::move(reply), sink);
}

io::Task<void> AdminEndpoint::reject(http::Fault fault, std::string message, http::ResponseSink& sink) {
    auto reply = reply_with(error_of(fault, std::move(message)));
    co_await send(std::move(reply), sink);
}

io::Task<void> AdminEndpoint::crashed(std::exception_ptr failure, http::ResponseSink& sink) {
    on_bug_(base::text_of(failure));
    if (sink.begun()) co_return;
    auto reply = reply_with({.status = 500,
                             .code = "internal_error",
                             .message = "The gateway failed while it handled this request; its log says more."});
    co_await send(std::move(reply), sink);
}

}  // namespace weir::admin
