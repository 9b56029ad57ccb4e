#include "sim/client_for_test.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace weir::sim::test {
namespace {

// Takes one chunked body apart as far as it is there; true when the terminal chunk has come.
bool dechunk(std::string_view raw, std::string& body) {
    body.clear();
    while (true) {
        const auto line_end = raw.find("\r\n");
        if (line_end == std::string_view::npos) return false;
        std::size_t size = 0;
        const auto line = raw.substr(0, line_end);
        if (std::from_chars(line.data(), line.data() + line.size(), size, 16).ec != std::errc{}) return false;
        raw.remove_prefix(line_end + 2);
        if (size == 0) return raw.starts_with("\r\n");
        if (raw.size() < size + 2) return false;
        body += raw.substr(0, size);
        raw.remove_prefix(size + 2);
    }
}

std::size_t content_length(std::string_view head) {
    constexpr std::string_view name = "content-length: ";
    std::string lower{head};
    for (char& c : lower)
        c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    const auto at = lower.find(name);
    std::size_t length = 0;
    if (at != std::string::npos) std::from_chars(lower.data() + at + name.size(), lower.data() + lower.size(), length);
    return length;
}

bool is_chunked(std::string_view head) { return head.find("chunked") != std::string_view::npos; }

}  // namespace

std::vector<std::string> Response::events() const {
    std::vector<std::string> found;
    for (std::size_t at = 0; at < body.size();) {
        const auto end = body.find("\n\n", at);
        if (end == std::string::npos) break;
        found.push_back(body.substr(at + 6, end - at - 6));  // behind "data: "
        at = end + 2;
    }
    return found;
}

Connection::Connection(int port) : descriptor_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    const timeval ten_seconds{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &ten_seconds, sizeof ten_seconds);
    ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &ten_seconds, sizeof ten_seconds);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

Connection::~Connection() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void Connection::send(std::string_view bytes) const {
    while (!bytes.empty()) {
        const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        ASSERT_GT(sent, 0);
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

Response Connection::receive() const {
    Response response;
    std::string all;
    std::array<char, 16384> buffer{};
    while (!response.complete) {
        const auto got = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
        if (got <= 0) break;
        all.append(buffer.data(), static_cast<std::size_t>(got));
        const auto head_end = all.find("\r\n\r\n");
        if (head_end == std::string::npos) continue;
        response.head = all.substr(0, head_end + 2);
        const auto rest = std::string_view{all}.substr(head_end + 4);
        if (is_chunked(response.head)) {
            response.complete = dechunk(rest, response.body);
        } else {
            response.body = rest;
            response.complete = rest.size() >= content_length(response.head);
        }
    }
    if (response.head.size() > 12)
        std::from_chars(response.head.data() + 9, response.head.data() + 12, response.status);
    return response;
}

std::string Connection::receive_until(std::string_view text) const {
    std::string all;
    std::array<char, 4096> buffer{};
    while (all.find(text) == std::string::npos) {
        const auto got = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
        if (got <= 0) break;
        all.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return all;
}

std::string get_request(std::string_view path, std::string_view more_fields) {
    return fmt::format("GET {} HTTP/1.1\r\nHost: sim\r\n{}\r\n", path, more_fields);
}

std::string post_request(std::string_view path, std::string_view body, std::string_view more_fields) {
    return fmt::format(
        "POST {} HTTP/1.1\r\nHost: sim\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}", path,
        body.size(), more_fields, body);
}

Response get(int port, std::string_view path) {
    const Connection connection{port};
    connection.send(get_request(path));
    return connection.receive();
}

Response post(int port, std::string_view path, std::string_view body, std::string_view more_fields) {
    const Connection connection{port};
    connection.send(post_request(path, body, more_fields));
    return connection.receive();
}

}  // namespace weir::sim::test
