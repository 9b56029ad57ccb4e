#include "io/socket_state.h"

#include <sys/epoll.h>

#include <memory>

namespace weir::io {
namespace {

constexpr std::uint32_t watched_events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
constexpr std::uint32_t failure_events = EPOLLERR | EPOLLHUP;

}  // namespace

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
    TimerWheel& wheel = socket_->reactor.wheel();
    const bool gives_way = direction_ != Direction::write && socket_->read.ready;  // but the budget is used up
    socket_->side(direction_).begin(*this, wheel, gives_way ? base::never : wait_.deadline);
    if (direction_ == Direction::either) socket_->read.begin(*this, wheel, base::never);
    if (gives_way)
        suspend_until_next_turn(continuation);
    else
        suspend(continuation, wait_.cancel);
}

base::Status ReadinessAwaiter::await_resume() const {
    switch (direction_) {
        case Direction::read: return to_status(outcome(), "wait for the peer to send");
        case Direction::write: return to_status(outcome(), "wait for the peer to read");
        case Direction::either: return to_status(outcome(), "wait for the peer to read or to send");
    }
    return to_status(outcome(), "wait for the peer");
}

bool ReadinessAwaiter::ready_now() const noexcept {
    const bool writable = direction_ != Direction::read && socket_->write.ready;
    const bool readable = direction_ != Direction::write && socket_->read.ready && socket_->read_budget_left();
    return writable || readable;
}

void ReadinessAwaiter::detach() noexcept {
    socket_->side(direction_).end(socket_->reactor.wheel());
    if (direction_ == Direction::either) socket_->read.end(socket_->reactor.wheel());
}

}  // namespace weir::io
