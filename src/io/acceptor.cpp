#include "io/descriptor.h"
#include "io/listener.h"
#include "io/reactor_impl.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace weir::io {
namespace {

constexpr std::chrono::milliseconds pause{100};
constexpr std::size_t drain_limit = 65'536;  // connections; the kernel queues far fewer

enum class Attempt { accepted, nothing_queued, connection_lost, exhausted };

// Linux reports a new connection's network errors through accept; they concern that connection only.
Attempt classify(int error) noexcept {
    switch (error) {
        case EAGAIN: return Attempt::nothing_queued;
        case EINTR:
        case ECONNABORTED:
        case EPROTO:
        case EPERM:
        case ENETDOWN:
        case ENOPROTOOPT:
        case EHOSTDOWN:
        case ENONET:
        case EHOSTUNREACH:
        case EOPNOTSUPP:
        case ENETUNREACH: return Attempt::connection_lost;
        default: return Attempt::exhausted;  // EMFILE, ENFILE, ENOBUFS, ENOMEM; and nothing else may spin either
    }
}

}  // namespace

struct Acceptor::State final : private EventSource, private Timer {
    State(Reactor::Impl& owner, int listening, std::move_only_function<void(int)> callback)
        : reactor{owner}, listener{listening}, on_accept{std::move(callback)} {
        start();
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { close(); }

    void start();
    void stop() noexcept;
    void pause_accepting() noexcept;
    void close() noexcept;
    [[nodiscard]] Attempt accept_one();
    [[nodiscard]] Attempt accept_some(std::size_t limit);
    void on_events(std::uint32_t events) noexcept override;
    void expired() noexcept override { start(); }

    Reactor::Impl& reactor;
    Descriptor listener;
    std::move_only_function<void(int)> on_accept;
    WatchTable::Token token = 0;
    bool watched = false;
    std::uint64_t paused_total = 0;
};

// Being unable to watch the listener is a want of resources like any other: it is tried again later.
void Acceptor::State::start() {
    const auto watch = reactor.watch(listener.get(), EPOLLIN, *this);
    if (!watch) return pause_accepting();
    token = *watch;
    watched = true;
}

void Acceptor::State::stop() noexcept {
    if (std::exchange(watched, false)) reactor.unwatch_open(listener.get(), token);
}

void Acceptor::State::pause_accepting() noexcept {
    stop();
    ++paused_total;
    reactor.wheel().arm(*this, reactor.now() + pause);
}

void Acceptor::State::close() noexcept {
    stop();
    reactor.wheel().disarm(*this);
    listener.reset();
}

Attempt Acceptor::State::accept_one() {
    const int descriptor = ::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) return classify(errno);
    on_accept(descriptor);
    return Attempt::accepted;
}

// How the last attempt ended; the callback may have closed the listener.
Attempt Acceptor::State::accept_some(std::size_t limit) {
    for (std::size_t count = 0; count < limit && listener.valid(); ++count) {
        const Attempt attempt = accept_one();
        if (attempt == Attempt::nothing_queued || attempt == Attempt::exhausted) return attempt;
    }
    return Attempt::accepted;
}

void Acceptor::State::on_events(std::uint32_t) noexcept {
    const Attempt last = accept_some(accepts_per_turn);
    if (last == Attempt::exhausted && listener.valid()) pause_accepting();
}

Acceptor::Acceptor(Reactor& reactor, int listening_descriptor, std::move_only_function<void(int)> on_accept)
    : state_{std::make_unique<State>(reactor.impl(), listening_descriptor, std::move(on_accept))} {}

Acceptor::~Acceptor() = default;

void Acceptor::drain_and_close() {
    if (!state_->listener.valid()) return;
    static_cast<void>(state_->accept_some(drain_limit));
    state_->close();
}

std::uint64_t Acceptor::paused_total() const noexcept { return state_->paused_total; }

}  // namespace weir::io
