// AdminEndpoint: the admin listener's handler. In this order: the Host field, the token, the route, the role, the media
// type, the body; then the route acts. Every refusal is an OpenAI error object with its code in x-weir-reason too.
// Threads: one reactor's. Lifetime: outlives the server that it is given to. Source: contract.md section 4.
#pragma once

#include "admin/api.h"
#include "http/server.h"

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace weir::admin {

inline constexpr std::size_t max_connections = 64;
inline constexpr std::size_t max_bodies = 4;  // held at once: a body may be as long as a client's
// What the listener's server is to be given; `body_bytes` is the longest body of any route.
[[nodiscard]] http::ServerLimits server_limits(std::size_t body_bytes);
// Refuses a connection that is one too many; takes ownership of the descriptor. Best effort, never blocks.
void turn_away(int descriptor);

class AdminEndpoint final : public http::Handler {
public:
    // `on_bug` is told the text of an exception that a request died of.
    AdminEndpoint(std::vector<Route> routes, AccessRules rules, std::function<void(const std::string&)> on_bug);
    void set_rules(AccessRules rules) { rules_ = std::move(rules); }

    // What a request is answered without its body: a refusal, or the route and who asks.
    struct Admitted {
        const Route* route = nullptr;
        Principal principal;
        std::string_view id{};  // of the path; lives as long as the head
    };
    [[nodiscard]] std::variant<Admitted, ApiReply> admit(const http::RequestHead& head) const;

    [[nodiscard]] io::Task<void> handle(http::RequestSource& source, http::ResponseSink& sink) override;
    [[nodiscard]] io::Task<void> reject(http::Fault fault, std::string message, http::ResponseSink& sink) override;
    [[nodiscard]] io::Task<void> crashed(std::exception_ptr failure, http::ResponseSink& sink) override;

private:
    [[nodiscard]] std::variant<const Route*, ApiReply> find_route(std::string_view method, std::string_view path) const;
    io::Task<ApiReply> answer(http::RequestSource& source, http::ResponseSink& sink);

    std::vector<Route> routes_;
    AccessRules rules_;
    std::function<void(const std::string&)> on_bug_;
    std::size_t bodies_ = 0;
};

}  // namespace weir::admin
