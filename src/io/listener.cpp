#include "io/listener.h"

#include "io/descriptor.h"
#include "io/socket_options.h"
#include "io/system_error.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace weir::io {
namespace {

constexpr int backlog = 4096;  // the kernel clamps it to net.core.somaxconn
constexpr int free_port_attempts = 16;

enum class Sharing { exclusive, between_workers };

std::unexpected<base::Error> already_served(const SocketAddress& address) {
    return base::fail(base::ErrorCode::unavailable,
                      address.text() + " is already served by another process; stop it or choose another port");
}

std::unexpected<base::Error> bind_failure(const SocketAddress& address, int error) {
    if (error == EADDRINUSE) return already_served(address);
    if (error == EACCES) {
        return base::fail(
            base::ErrorCode::unavailable,
            "cannot bind " + address.text() + ": no permission (ports below 1024 need CAP_NET_BIND_SERVICE)");
    }
    return system_failure("cannot bind " + address.text(), error);
}

// A socket name in the abstract namespace: one owner on this host (network namespace, like the port itself), and it
// goes with the process however that ends.
base::Result<Descriptor> lock(const SocketAddress& address) {
    Descriptor owner{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    if (!owner.valid()) return system_failure("socket");
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text = "weir.listen." + address.text();
    assert(text.size() + 1 < sizeof name.sun_path);
    std::memcpy(name.sun_path + 1, text.data(), text.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    if (::bind(owner.get(), reinterpret_cast<const sockaddr*>(&name), length) == 0) return owner;
    return bind_failure(address, errno);
}

base::Result<Descriptor> bind_to(const SocketAddress& address, Sharing sharing) {
    Descriptor socket{::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!socket.valid()) return system_failure("socket");
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (sharing == Sharing::between_workers) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    if (::bind(socket.get(), address.raw(), address.length) != 0) return bind_failure(address, errno);
    return socket;
}

// Without SO_REUSEPORT the kernel refuses an address on which anybody listens, under a wildcard or another program
// too. The lock alone would not see those.
base::Status refuse_if_served(const SocketAddress& address) {
    const auto probe = bind_to(address, Sharing::exclusive);
    if (!probe) return std::unexpected{probe.error()};
    return {};
}

base::Result<SocketAddress> with_free_port(const SocketAddress& address) {
    const auto probe = bind_to(address, Sharing::exclusive);
    if (!probe) return std::unexpected{probe.error()};
    SocketAddress found = address;
    auto* const raw = reinterpret_cast<sockaddr*>(&found.storage);
    if (::getsockname(probe->get(), raw, &found.length) != 0) return system_failure("getsockname");
    return found;
}

base::Result<std::vector<Descriptor>> listen_on(const SocketAddress& address, std::size_t count) {
    std::vector<Descriptor> listeners;
    for (std::size_t index = 0; index < count; ++index) {
        auto listener = bind_to(address, Sharing::between_workers);
        if (!listener) return std::unexpected{std::move(listener).error()};
        set_connection_options(listener->get());
        listeners.push_back(std::move(*listener));
    }
    for (const Descriptor& listener : listeners) {
        if (::listen(listener.get(), backlog) != 0) return bind_failure(address, errno);
    }
    return listeners;
}

}  // namespace

struct ListenerSet::State {
    SocketAddress address;
    Descriptor lock;
    std::vector<Descriptor> listeners;
};

ListenerSet::ListenerSet(std::unique_ptr<State> state) : state_{std::move(state)} {}
ListenerSet::ListenerSet(ListenerSet&&) noexcept = default;
ListenerSet& ListenerSet::operator=(ListenerSet&&) noexcept = default;
ListenerSet::~ListenerSet() = default;

base::Result<ListenerSet> ListenerSet::open(const SocketAddress& address, std::size_t count) {
    if (count == 0) return base::fail(base::ErrorCode::invalid_argument, "a listener set needs at least one listener");
    if (address.port() != 0) return open_port(address, count);
    auto opened = base::Result<ListenerSet>{already_served(address)};
    for (int attempt = 0; attempt < free_port_attempts && !opened; ++attempt) {
        const auto free = with_free_port(address);
        if (!free) return std::unexpected{free.error()};
        opened = open_port(*free, count);  // somebody may have taken the port in between
    }
    return opened;
}

base::Result<ListenerSet> ListenerSet::open_port(const SocketAddress& address, std::size_t count) {
    auto state = std::make_unique<State>();
    state->address = address;
    auto owner = lock(address);
    if (!owner) return std::unexpected{std::move(owner).error()};
    state->lock = std::move(*owner);
    if (auto free = refuse_if_served(address); !free) return std::unexpected{std::move(free).error()};
    auto listeners = listen_on(address, count);
    if (!listeners) return std::unexpected{std::move(listeners).error()};
    state->listeners = std::move(*listeners);
    return ListenerSet{std::move(state)};
}

const SocketAddress& ListenerSet::address() const noexcept { return state_->address; }

int ListenerSet::take(std::size_t index) noexcept { return state_->listeners[index].release(); }

std::uint64_t raise_descriptor_limit() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    if (limit.rlim_cur >= limit.rlim_max) return limit.rlim_cur;
    const rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    return ::setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

}  // namespace weir::io
