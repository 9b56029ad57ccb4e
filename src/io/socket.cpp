#include "io/socket.h"

#include "io/descriptor.h"
#include "io/socket_options.h"
#include "io/socket_state.h"
#include "io/system_call.h"
#include "io/system_error.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace weir::io {
namespace {

bool is_would_block(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK; }

// Whether the kernel took every slice, when it took `bytes`.
bool all_taken(std::span<const iovec> slices, std::size_t bytes) noexcept {
    for (const iovec& slice : slices) {
        if (slice.iov_len > bytes) return false;
        bytes -= slice.iov_len;
    }
    return true;
}

}  // namespace

Socket::Socket() noexcept = default;
Socket::Socket(Socket&&) noexcept = default;
Socket& Socket::operator=(Socket&&) noexcept = default;
Socket::~Socket() = default;

base::Result<Socket> Socket::adopt(Reactor& reactor, int descriptor) {
    set_connection_options(descriptor);
    return State::open(reactor, Descriptor{descriptor}, true);
}

base::Result<Socket> Socket::start_connect(Reactor& reactor, const SocketAddress& address) {
    Descriptor descriptor{::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!descriptor.valid()) return system_failure("socket");
    set_connection_options(descriptor.get());
    const int status = ::connect(descriptor.get(), address.raw(), address.length);
    if (status != 0 && errno != EINPROGRESS) return system_failure("connect to " + address.text());
    return State::open(reactor, std::move(descriptor), status == 0);
}

base::Status Socket::connect_status() const {
    if (!is_open()) return base::fail(base::ErrorCode::closed, "connect: closed on this side");
    int error = 0;
    socklen_t length = sizeof error;
    if (::getsockopt(state_->descriptor.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
    if (error != 0) return system_failure("connect", error);
    return {};
}

ReadinessAwaiter Socket::wait_readable(Wait wait) noexcept {
    return ReadinessAwaiter{state_.get(), ReadinessAwaiter::Direction::read, wait};
}

ReadinessAwaiter Socket::wait_writable(Wait wait) noexcept {
    return ReadinessAwaiter{state_.get(), ReadinessAwaiter::Direction::write, wait};
}

ReadinessAwaiter Socket::wait_either(Wait wait) noexcept {
    return ReadinessAwaiter{state_.get(), ReadinessAwaiter::Direction::either, wait};
}

// A short read means that the kernel had no more, so that the next bytes come with a new edge and the call that would
// only say EAGAIN is saved. After RDHUP no edge will come: the end of the stream must still be readable.
base::Result<IoCount> Socket::try_read(std::span<char> into) noexcept {
    if (!is_open()) return base::fail(base::ErrorCode::closed, "read: closed on this side");
    if (!state_->read_budget_left()) return IoCount{.would_block = true};
    const ssize_t count = receive(state_->descriptor.get(), into);
    if (count < 0 && is_would_block(errno)) {
        state_->read.ready = false;
        return IoCount{.would_block = true};
    }
    if (count < 0) return transfer_failure("read", errno);
    const auto bytes = static_cast<std::size_t>(count);
    if (bytes == 0) return IoCount{.end_of_stream = !into.empty()};
    state_->spend(bytes);
    if (bytes < into.size() && !state_->peer_finished) state_->read.ready = false;
    return IoCount{.bytes = bytes};
}

// A short write means that the kernel took what it could, and will tell when there is room again.
base::Result<IoCount> Socket::try_writev(std::span<const iovec> slices) noexcept {
    if (!is_open()) return base::fail(base::ErrorCode::closed, "write: closed on this side");
    const auto sent_now = slices.first(std::min<std::size_t>(slices.size(), IOV_MAX));
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(sent_now.data());  // sendmsg does not write through it
    message.msg_iovlen = sent_now.size();
    const ssize_t count = send_message(state_->descriptor.get(), message, MSG_NOSIGNAL);
    if (count < 0 && !is_would_block(errno)) return transfer_failure("write", errno);
    const auto bytes = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    const bool blocked = count < 0 || !all_taken(sent_now, bytes);
    if (blocked) state_->write.ready = false;
    return IoCount{.bytes = bytes, .would_block = blocked};
}

bool Socket::peer_finished() const noexcept { return is_open() && state_->peer_finished; }

bool Socket::may_be_readable() const noexcept { return is_open() && state_->read.ready; }

void Socket::on_peer_finished(std::move_only_function<void()> callback) {
    if (!is_open()) return;
    if (callback && state_->peer_finished) return callback();
    state_->on_peer_finished = std::move(callback);
}

bool Socket::is_open() const noexcept { return state_ != nullptr; }

std::string Socket::peer_text() const {
    SocketAddress address;
    address.length = sizeof address.storage;
    if (!is_open()) return "unknown";
    auto* const raw = reinterpret_cast<sockaddr*>(&address.storage);
    if (::getpeername(state_->descriptor.get(), raw, &address.length) != 0) return "unknown";
    return address.text();
}

void Socket::finish_writing() noexcept {
    if (is_open()) ::shutdown(state_->descriptor.get(), SHUT_WR);
}

void Socket::close() noexcept { state_.reset(); }

void Socket::reset() noexcept {
    if (!is_open()) return;
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(state_->descriptor.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
}

}  // namespace weir::io
