#include "io/socket.h"

#include "io/descriptor.h"
#include "io/reactor_impl.h"
#include "io/socket_options.h"
#include "io/system_error.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <climits>
#include <utility>

namespace weir::io {
namespace {

constexpr std::uint32_t watched_events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
constexpr std::uint32_t failure_events = EPOLLERR | EPOLLHUP;

bool is_would_block(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

// One direction: whether the kernel is known to be ready, and who waits for it. The deadline of the wait is kept in
// one timer for the whole life of the socket, so that a wait for each event does not insert into the wheel.
struct Readiness final : private Timer {
    using Timer::linked;
    bool ready = false;
    WaitNode* waiter = nullptr;

    void wake(Outcome outcome) noexcept {
        if (waiter != nullptr) waiter->complete(outcome);
    }
    void begin(WaitNode& node, TimerWheel& wheel, base::Instant deadline) noexcept {
        assert(waiter == nullptr && "one waiter for each direction");
        waiter = &node;
        wheel.arm(*this, deadline);
    }
    void end(TimerWheel& wheel) noexcept {
        waiter = nullptr;
        wheel.disarm(*this);
    }

private:
    void expired() noexcept override { wake(Outcome::timed_out); }
};

struct Socket::State final : private EventSource {
    State(Reactor::Impl& owner, Descriptor adopted) noexcept : reactor{owner}, descriptor{std::move(adopted)} {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State();

    [[nodiscard]] static base::Result<Socket> open(Reactor& reactor, Descriptor descriptor, bool writable);
    [[nodiscard]] Readiness& side(ReadinessAwaiter::Direction direction) noexcept {
        return direction == ReadinessAwaiter::Direction::read ? read : write;  // `either` keeps its deadline in write
    }
    [[nodiscard]] bool read_budget_left() const noexcept {
        return budget_turn != reactor.turn() || bytes_this_turn < Socket::read_budget_bytes;
    }
    void spend(std::size_t bytes) noexcept;
    void on_events(std::uint32_t events) noexcept override;

    Reactor::Impl& reactor;
    Descriptor descriptor;
    WatchTable::Token token = 0;
    bool watched = false;
    bool peer_finished = false;
    Readiness read;
    Readiness write;
    std::uint64_t budget_turn = 0;
    std::size_t bytes_this_turn = 0;
    std::move_only_function<void()> on_peer_finished;
};

Socket::State::~State() {
    if (watched) reactor.unwatch(token);
    reactor.close_later(std::move(descriptor));
    read.wake(Outcome::closed);
    write.wake(Outcome::closed);
}

void Socket::State::spend(std::size_t bytes) noexcept {
    if (budget_turn != reactor.turn()) {
        budget_turn = reactor.turn();
        bytes_this_turn = 0;
    }
    bytes_this_turn += bytes;
}

void Socket::State::on_events(std::uint32_t events) noexcept {
    const bool failed = (events & failure_events) != 0;
    if (failed || (events & (EPOLLIN | EPOLLRDHUP)) != 0) {
        read.ready = true;
        read.wake(Outcome::ok);
    }
    if (failed || (events & EPOLLOUT) != 0) {
        write.ready = true;
        write.wake(Outcome::ok);
    }
    if (failed || (events & EPOLLRDHUP) != 0) {
        peer_finished = true;
        auto callback = std::exchange(on_peer_finished, nullptr);
        if (callback) callback();  // last, because it may destroy this object
    }
}

base::Result<Socket> Socket::State::open(Reactor& reactor, Descriptor descriptor, bool writable) {
    Socket socket;
    socket.state_ = std::make_unique<State>(reactor.impl(), std::move(descriptor));
    State& state = *socket.state_;
    const auto token = state.reactor.watch(state.descriptor.get(), watched_events, state);
    if (!token) return std::unexpected{token.error()};
    state.token = *token;
    state.watched = true;
    state.write.ready = writable;
    return socket;
}

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
    const ssize_t count = ::recv(state_->descriptor.get(), into.data(), into.size(), 0);
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
    const ssize_t count = ::sendmsg(state_->descriptor.get(), &message, MSG_NOSIGNAL);
    if (count < 0 && !is_would_block(errno)) return transfer_failure("write", errno);
    const auto bytes = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    std::size_t wanted = 0;
    for (const iovec& slice : sent_now)
        wanted += slice.iov_len;
    const bool blocked = count < 0 || bytes < wanted;
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

ReadinessAwaiter::ReadinessAwaiter(Socket::State* socket, Direction direction, Wait wait) noexcept
    : WaitNode{socket == nullptr ? nullptr : &socket->reactor.ready()},
      socket_{socket},
      wait_{wait},
      direction_{direction} {}

bool ReadinessAwaiter::await_ready() noexcept {
    if (socket_ == nullptr)
        conclude(Outcome::closed);
    else if (wait_.cancel != nullptr && wait_.cancel->fired())
        conclude(Outcome::cancelled);
    else if (ready_now())
        conclude(Outcome::ok);
    else if (wait_.deadline <= socket_->reactor.now())
        conclude(Outcome::timed_out);
    return outcome() != Outcome::pending;
}

void ReadinessAwaiter::await_suspend(std::coroutine_handle<> continuation) noexcept {
    Readiness& side = socket_->side(direction_);
    const bool gives_way = side.ready;  // ready, but the budget is used up
    side.begin(*this, socket_->reactor.wheel(), gives_way ? base::never : wait_.deadline);
    if (direction_ == Direction::either) socket_->read.begin(*this, socket_->reactor.wheel(), base::never);
    if (gives_way)
        suspend_until_next_turn(continuation);
    else
        suspend(continuation, wait_.cancel);
}

base::Status ReadinessAwaiter::await_resume() const {
    return to_status(outcome(),
                     direction_ == Direction::read ? "wait for the peer to send" : "wait for the peer to read");
}

bool ReadinessAwaiter::ready_now() const noexcept {
    if (direction_ == Direction::either) return socket_->write.ready || socket_->read.ready;
    const bool within_budget = direction_ == Direction::write || socket_->read_budget_left();
    return within_budget && socket_->side(direction_).ready;
}

void ReadinessAwaiter::detach() noexcept {
    socket_->side(direction_).end(socket_->reactor.wheel());
    if (direction_ == Direction::either) socket_->read.end(socket_->reactor.wheel());
}

}  // namespace weir::io
