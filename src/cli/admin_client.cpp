#include "cli/admin_client.h"

#include "base/units.h"
#include "cli/exit_codes.h"
#include "engine/json_document.h"
#include "http/client.h"
#include "io/block_on.h"
#include "io/reactor.h"
#include "model/reason.h"

#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace weir::cli {

namespace {

using base::ErrorCode;
using base::Result;

constexpr std::chrono::seconds connect_timeout{5};
constexpr std::chrono::seconds whole_timeout{60};
constexpr std::size_t max_reply_bytes = 64U << 20U;
constexpr std::string_view scheme = "http://";

Result<base::HostPort> address_in(std::string url) {
    const auto wrong = [&url](std::string_view why) {
        return base::fail(ErrorCode::invalid_argument, fmt::format("--admin {}: {}", url, why));
    };
    if (url.starts_with("https://"))
        return wrong("the admin API speaks plain HTTP; tunnel it, or put a proxy before it");
    if (!url.starts_with(scheme)) return wrong("expected http://HOST:PORT");
    std::string authority = url.substr(scheme.size());
    if (authority.ends_with('/')) authority.pop_back();
    if (authority.find_first_of("/?#@ ") != std::string::npos) return wrong("expected http://HOST:PORT and no more");
    const bool has_port = authority.find(':', authority.find(']') + 1) != std::string::npos;
    auto parsed = base::parse_host_port(has_port ? authority : authority + ":80");
    if (!parsed) return wrong(parsed.error().message());
    return parsed;
}

// An address needs no resolver; a name is asked for once, and its first address taken.
Result<io::SocketAddress> resolve(const base::HostPort& where) {
    if (auto address = io::SocketAddress::parse(where.host, where.port)) return address;
    const addrinfo hints{.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    addrinfo* answer = nullptr;
    const int failed = ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &answer);
    if (failed != 0)
        return base::fail(ErrorCode::unavailable, fmt::format("{}: {}", where.host, ::gai_strerror(failed)));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned{answer, ::freeaddrinfo};
    io::SocketAddress address;
    std::memcpy(&address.storage, answer->ai_addr, answer->ai_addrlen);
    address.length = answer->ai_addrlen;
    return address;
}

std::string request_head(const AdminCall& call, const std::string& authority, const std::string& token) {
    std::string head =
        fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", call.method, call.target, authority);
    if (!token.empty()) head += fmt::format("Authorization: Bearer {}\r\n", token);
    if (call.method != "GET")
        head += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", call.body.size());
    return head + "\r\n";
}

AdminReply reply_of(int status, std::string body) {
    AdminReply reply{
        .status = status, .body = std::move(body), .error_code = {}, .error_message = {}, .error_param = {}};
    if (status == 200) return reply;
    const auto json = engine::JsonDocument::parse(reply.body);
    if (!json) return reply;
    reply.error_code = json->text("/error/code").value_or("");
    reply.error_message = json->text("/error/message").value_or("");
    reply.error_param = json->text("/error/param").value_or("");
    return reply;
}

// The arguments outlive the task.
io::Task<Result<AdminReply>> exchange(io::Reactor& reactor, const http::Origin& origin, const std::string& head,
                                      std::string_view body) {
    http::ClientPool pool{reactor, {}};
    const io::Wait wait{.deadline = reactor.now() + whole_timeout};
    auto opened = co_await pool.open(origin, true, {.deadline = reactor.now() + connect_timeout});
    if (!opened) co_return std::unexpected{std::move(opened).error()};
    const std::array<std::string_view, 2> slices{head, body};
    const auto sent = co_await opened->send(slices, wait);
    if (!sent) co_return std::unexpected{sent.error()};
    const auto read = co_await opened->read_head(wait);
    if (!read) co_return std::unexpected{read.error()};
    const int status = (*read)->status;
    auto answer = co_await opened->read_whole_body(max_reply_bytes, wait);
    if (!answer) co_return std::unexpected{answer.error()};
    opened->spoil();
    co_return reply_of(status, *std::move(answer));
}

}  // namespace

Result<AdminReply> call_admin(const std::string& url, const AdminCall& call, const std::string& token) {
    const auto where = address_in(url);
    if (!where) return std::unexpected{where.error()};
    if (!std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; }))
        return base::fail(ErrorCode::invalid_argument, "WEIR_ADMIN_TOKEN has characters that no token has");
    const auto address = resolve(*where);
    if (!address) return std::unexpected{address.error()};
    auto reactor = io::Reactor::create();
    if (!reactor) return std::unexpected{std::move(reactor).error()};
    const http::Origin origin{.address = *address, .authority = base::format_host_port(*where)};
    const std::string head = request_head(call, origin.authority, token);
    auto reply = io::block_on(**reactor, exchange(**reactor, origin, head, call.body));
    if (!reply) return std::unexpected{std::move(reply).error().within(url)};
    return reply;
}

std::string why_not_called(const base::Error& error) {
    std::string text{error.message()};
    if (error.code() != ErrorCode::invalid_argument)
        text += "; is weir serve running there, and is this its server.admin_listen?";
    return text;
}

int exit_code_of(const base::Error& error) {
    return error.code() == ErrorCode::invalid_argument ? exit_usage : exit_environment;
}

std::string refused_call(const std::string& url, const AdminReply& reply) {
    std::string_view why = "this is not Weir's admin API";
    if (!reply.error_message.empty()) why = reply.error_message;
    if (reply.error_code == name_of(model::Reason::invalid_api_key))
        why = "this is where clients call; --admin is the address of server.admin_listen";
    return fmt::format("{} answers {}: {}", url, reply.status, why);
}

std::string admin_token() {
    const char* token = std::getenv("WEIR_ADMIN_TOKEN");
    return token == nullptr ? "" : token;
}

}  // namespace weir::cli
