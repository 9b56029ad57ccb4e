#include "io/reactor.h"

#include "io/reactor_impl.h"
#include "io/system_call.h"
#include "io/system_error.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <limits>
#include <utility>

namespace weir::io {

base::Result<std::unique_ptr<Reactor>> Reactor::create() {
    Descriptor epoll{::epoll_create1(EPOLL_CLOEXEC)};
    if (!epoll.valid()) return system_failure("epoll_create1");
    Descriptor wake_up{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    if (!wake_up.valid()) return system_failure("eventfd");
    auto impl = std::make_unique<Impl>(std::move(epoll), std::move(wake_up));
    if (auto started = impl->start(); !started) return std::unexpected{std::move(started).error()};
    return std::unique_ptr<Reactor>{new Reactor{std::move(impl)}};
}

Reactor::Reactor(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Reactor::~Reactor() = default;
void Reactor::run() { impl_->run(); }
void Reactor::stop() noexcept { impl_->stopping_ = true; }
void Reactor::post(std::move_only_function<void()> work) { impl_->mailbox_.post(std::move(work)); }
base::Instant Reactor::now() const noexcept { return impl_->now(); }
TimerWheel& Reactor::timers() noexcept { return impl_->wheel_; }
base::Nanoseconds Reactor::last_turn() const noexcept { return impl_->last_turn_; }

SleepAwaiter Reactor::sleep(Wait wait) noexcept {
    return SleepAwaiter{impl_->ready_, impl_->wheel_, impl_->now(), wait};
}

Reactor::Impl::Impl(Descriptor epoll, Descriptor wake_up)
    : epoll_{std::move(epoll)},
      mailbox_{std::move(wake_up)},
      wheel_{base::monotonic_now()},
      now_{base::monotonic_now()} {}

Reactor::Impl::~Impl() {
    assert(ready_.empty() && "a coroutine still waits to be resumed: await the task group before the reactor dies");
    assert(watches_.size() <= 1 && "a socket or listener outlives its reactor");
}

base::Status Reactor::Impl::start() {
    const auto token = watch(mailbox_.descriptor(), EPOLLIN | EPOLLET, *this);
    if (!token) return std::unexpected{token.error()};
    mailbox_token_ = *token;
    return {};
}

base::Result<WatchTable::Token> Reactor::Impl::watch(int descriptor, std::uint32_t events, EventSource& source) {
    const WatchTable::Token token = watches_.add(source);
    epoll_event wanted{.events = events, .data = {.u64 = token}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &wanted) == 0) return token;
    auto failure = system_failure("epoll_ctl");
    watches_.remove(token);
    return failure;
}

void Reactor::Impl::unwatch_open(int descriptor, WatchTable::Token token) noexcept {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
    unwatch(token);
}

void Reactor::Impl::close_later(Descriptor descriptor) {
    if (running_) closing_.push_back(std::move(descriptor));
}

void Reactor::Impl::run() {
    assert(!running_ && "run() is not reentrant");
    struct Running {
        bool& flag;
        explicit Running(bool& running) noexcept : flag{running} { flag = true; }
        ~Running() { flag = false; }
    };
    now_ = base::monotonic_now();
    const Running running{running_};
    while (!stopping_)
        run_turn();
    stopping_ = false;
}

void Reactor::Impl::run_turn() {
    std::array<epoll_event, events_per_turn> fetched;
    const std::size_t count = wait_for_events(fetched);
    now_ = base::monotonic_now();
    ++turn_;
    for (const epoll_event& event : std::span{fetched}.first(count)) {
        EventSource* const source = watches_.find(event.data.u64);
        if (source != nullptr) source->on_events(event.events);
    }
    if (std::exchange(mail_, false)) mailbox_.run_all();
    wheel_.advance(now_);
    ready_.run_turn();
    closing_.clear();
    if (turn_ % turns_per_measurement == 0) last_turn_ = base::monotonic_now() - now_;
}

std::size_t Reactor::Impl::wait_for_events(std::span<epoll_event> events) {
    const int count = io::wait_for_events(epoll_.get(), events, wait_ms());
    assert((count >= 0 || errno == EINTR) && "epoll_wait fails only for programming errors");
    return static_cast<std::size_t>(std::max(count, 0));
}

// Rounds up: a wake-up before the timer is due would find nothing to do.
int Reactor::Impl::wait_ms() noexcept {
    if (!ready_.empty()) return 0;
    const auto wake = wheel_.next_wake();
    if (!wake) return -1;
    const auto remaining = std::chrono::ceil<std::chrono::milliseconds>(*wake - now_).count();
    return static_cast<int>(std::clamp<std::int64_t>(remaining, 0, std::numeric_limits<int>::max()));
}

void Reactor::Impl::on_events(std::uint32_t) noexcept { mail_ = true; }

}  // namespace weir::io
