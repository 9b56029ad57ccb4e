#include "control/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace weir::control {

std::string get_request(std::string_view path, std::string_view authority, const config::Secret& credential) {
    std::string request = fmt::format(
        "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: weir\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n"
        "Connection: close\r\n",
        path, authority);
    const bool sendable =
        std::ranges::none_of(credential.reveal(), [](char letter) { return letter < ' ' || letter == '\x7f'; });
    if (!credential.empty() && sendable)
        request.append("Authorization: Bearer ").append(credential.reveal()).append("\r\n");
    return request.append("\r\n");
}

io::Task<base::Result<Answer>> ask(http::ClientPool& client, http::Origin origin, std::string request, io::Wait wait) {
    auto exchange = co_await client.open(origin, /*fresh=*/true, wait);
    if (!exchange) co_return std::unexpected{exchange.error()};
    const std::array<std::string_view, 1> slices{request};
    const base::Status sent = co_await exchange->send(slices, wait);
    if (!sent) co_return std::unexpected{sent.error()};
    const base::Result<const http::ResponseHead*> head = co_await exchange->read_head(wait);
    if (!head) co_return std::unexpected{head.error()};
    const int status = (*head)->status;
    auto body = co_await exchange->read_whole_body(max_answer_bytes, wait);
    if (!body) co_return std::unexpected{body.error()};
    co_return Answer{.status = status, .body = *std::move(body)};
}

}  // namespace weir::control
