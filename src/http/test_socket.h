// Plain blocking sockets for the module's tests: a client, and a listener whose script a thread plays. They share
// nothing with the product's I/O, and every call is bounded in time. Only tests include this.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace weir::http::test {

class BlockingSocket {
public:
    explicit BlockingSocket(int descriptor) : descriptor_{descriptor} {
        EXPECT_GE(descriptor, 0);
        set_timeout(std::chrono::seconds{20});
    }
    BlockingSocket(BlockingSocket&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
    BlockingSocket& operator=(BlockingSocket&&) = delete;
    ~BlockingSocket() { close(); }

    static BlockingSocket connect(std::uint16_t port, int receive_buffer_bytes = 0) {
        const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (receive_buffer_bytes > 0) {
            ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
        }
        const sockaddr_in address = loopback(port);
        const auto status = ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address);
        EXPECT_EQ(status, 0) << errno;
        return BlockingSocket{descriptor};
    }
    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return address;
    }

    void set_timeout(std::chrono::milliseconds limit) {
        const timeval time{.tv_sec = limit.count() / 1000, .tv_usec = limit.count() % 1000 * 1000};
        ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
        ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    }
    // False when the peer does not take all of it.
    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    // What one read gives; "" at the end of the stream, on an error and when the time is up: see failure().
    std::string receive(std::size_t most = 64 * 1024) {
        std::string bytes(most, '\0');
        const auto count = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
        failure_ = count < 0 ? errno : 0;
        bytes.resize(static_cast<std::size_t>(count > 0 ? count : 0));
        return bytes;
    }
    std::string receive_to_end() {
        std::string bytes;
        for (auto more = receive(); !more.empty(); more = receive())
            bytes += more;
        return bytes;
    }
    // Reads until `text` has come; returns all, or what came before the end.
    std::string receive_until(std::string_view text) {
        std::string bytes;
        while (bytes.find(text) == std::string::npos) {
            const auto more = receive();
            if (more.empty()) break;
            bytes += more;
        }
        return bytes;
    }
    [[nodiscard]] int failure() const { return failure_; }  // errno of the last receive, 0 = none
    void finish_sending() { ::shutdown(descriptor_, SHUT_WR); }
    void reset() {
        const linger at_once{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close();
    }
    void close() {
        if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    }

private:
    int descriptor_;
    int failure_ = 0;
};

// A listening socket on a free port of the loopback.
class BlockingListener {
public:
    BlockingListener() : descriptor_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
        sockaddr_in address = BlockingSocket::loopback(0);
        EXPECT_EQ(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::listen(descriptor_, 64), 0);
        socklen_t length = sizeof address;
        ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &length);
        port_ = ntohs(address.sin_port);
        const timeval time{.tv_sec = 20, .tv_usec = 0};
        ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    }
    BlockingListener(const BlockingListener&) = delete;
    BlockingListener& operator=(const BlockingListener&) = delete;
    ~BlockingListener() { ::close(descriptor_); }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] BlockingSocket accept() {
        return BlockingSocket{::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC)};
    }

private:
    int descriptor_;
    std::uint16_t port_ = 0;
};

// A peer whose script runs on a thread of its own; the end of the test waits for the end of the script.
class ScriptedPeer {
public:
    using Script = std::function<void(BlockingListener&)>;
    explicit ScriptedPeer(Script script) : thread_{[this, play = std::move(script)] { play(listener_); }} {}
    ScriptedPeer(const ScriptedPeer&) = delete;
    ScriptedPeer& operator=(const ScriptedPeer&) = delete;
    ~ScriptedPeer() { thread_.join(); }
    [[nodiscard]] std::uint16_t port() const { return listener_.port(); }

private:
    BlockingListener listener_;
    std::thread thread_;
};

// The whole of a response whose body has a Content-Length or is chunked with its last chunk, or what came of it.
inline std::string receive_response(BlockingSocket& socket) {
    std::string bytes = socket.receive_until("\r\n\r\n");
    const auto head_end = bytes.find("\r\n\r\n");
    if (head_end == std::string::npos) return bytes;
    const auto length_at = bytes.find("Content-Length: ");
    const bool has_length = length_at < head_end;
    const std::size_t wanted = head_end + 4 + (has_length ? std::stoul(bytes.substr(length_at + 16)) : 0);
    const bool chunked = bytes.find("chunked") < head_end;
    while (chunked ? !bytes.ends_with("0\r\n\r\n") : bytes.size() < wanted) {
        const auto more = socket.receive(chunked ? 64 * 1024 : wanted - bytes.size());
        if (more.empty()) break;
        bytes += more;
    }
    return bytes;
}

inline std::string body_of(std::string_view response) {
    const auto head_end = response.find("\r\n\r\n");
    return head_end == std::string_view::npos ? std::string{} : std::string{response.substr(head_end + 4)};
}

}  // namespace weir::http::test
