// Test support: connected loopback sockets, of which one end is the test's plain blocking descriptor, and the
// reader and writer that every user of a Socket has in some form. For tests only; failures throw.
#pragma once

#include "io/address.h"
#include "io/descriptor.h"
#include "io/reactor.h"
#include "io/socket.h"
#include "io/task.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace weir::io::test {

inline int checked(int result, const char* what) {
    if (result < 0) throw std::system_error{errno, std::generic_category(), what};
    return result;
}

inline std::unique_ptr<Reactor> make_reactor() { return Reactor::create().value(); }

inline SocketAddress loopback(std::uint16_t port = 0) { return SocketAddress::parse("127.0.0.1", port).value(); }

inline SocketAddress local_address(int descriptor) {
    SocketAddress address;
    address.length = sizeof address.storage;
    checked(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address.storage), &address.length), "getsockname");
    return address;
}

inline Descriptor listen_on_loopback() {
    Descriptor listener{checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")};
    const SocketAddress address = loopback();
    checked(::bind(listener.get(), address.raw(), address.length), "bind");
    checked(::listen(listener.get(), 128), "listen");
    return listener;
}

inline Descriptor connect_to(const SocketAddress& address) {
    Descriptor client{checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")};
    checked(::connect(client.get(), address.raw(), address.length), "connect");
    return client;
}

// Two connected descriptors: `near` is non-blocking, `far` blocks.
struct DescriptorPair {
    Descriptor near;
    Descriptor far;
};

inline DescriptorPair connected_descriptors() {
    const Descriptor listener = listen_on_loopback();
    Descriptor far = connect_to(local_address(listener.get()));
    Descriptor near{checked(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), "accept4")};
    return {.near = std::move(near), .far = std::move(far)};
}

struct Connection {
    Socket near;
    Descriptor far;
};

inline Connection connected(Reactor& reactor) {
    DescriptorPair pair = connected_descriptors();
    return {.near = Socket::adopt(reactor, pair.near.release()).value(), .far = std::move(pair.far)};
}

inline void send_text(const Descriptor& descriptor, std::string_view text) {
    checked(static_cast<int>(::send(descriptor.get(), text.data(), text.size(), MSG_NOSIGNAL)), "send");
}

// Closes with a reset instead of an orderly end.
inline void reset(Descriptor& descriptor) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    checked(::setsockopt(descriptor.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), "setsockopt");
    descriptor.reset();
}

// Puts the far end under the reactor too.
inline Socket adopt_far(Reactor& reactor, Descriptor& far) {
    checked(::fcntl(far.get(), F_SETFL, O_NONBLOCK), "fcntl");
    return Socket::adopt(reactor, far.release()).value();
}

// Waits, then reads once.
inline Task<base::Result<IoCount>> read_once(Socket& socket, std::span<char> buffer, Wait wait) {
    const base::Status readable = co_await socket.wait_readable(wait);
    if (!readable) co_return std::unexpected{readable.error()};
    co_return socket.try_read(buffer);
}

inline Task<base::Result<std::string>> read_to_end(Socket& socket, Wait wait) {
    std::string text;
    std::vector<char> buffer(64 * 1024);
    for (;;) {
        const auto read = socket.try_read(buffer);
        if (!read) co_return std::unexpected{read.error()};
        if (read->end_of_stream) co_return text;
        text.append(buffer.data(), read->bytes);
        const base::Status readable = co_await socket.wait_readable(wait);
        if (!readable) co_return std::unexpected{readable.error()};
    }
}

inline Task<base::Status> write_all(Socket& socket, std::string text, Wait wait) {
    std::size_t sent = 0;
    while (sent < text.size()) {
        const std::array slices{iovec{.iov_base = text.data() + sent, .iov_len = text.size() - sent}};
        const auto written = socket.try_writev(slices);
        if (!written) co_return std::unexpected{written.error()};
        sent += written->bytes;
        if (!written->would_block) continue;
        base::Status writable = co_await socket.wait_writable(wait);
        if (!writable) co_return writable;
    }
    co_return base::Status{};
}

// Stores how a task ended, for tasks that a group runs.
template <class T>
Task<void> store(Task<T> task, std::optional<T>& outcome) {
    outcome.emplace(co_await std::move(task));
}

}  // namespace weir::io::test
