// Reactor::Impl: what sockets, listeners and events use of the loop. Not for other modules.
// A turn: wait, dispatch events, run the mailbox, fire timers, resume the ready, close descriptors.
// Only the resuming step runs coroutines. Threads: the reactor's, except post().
#pragma once

#include "io/descriptor.h"
#include "io/mailbox.h"
#include "io/reactor.h"
#include "io/watch_table.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

struct epoll_event;

namespace weir::io {

class Reactor::Impl final : private EventSource {
public:
    Impl(Descriptor epoll, Descriptor wake_up);
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl();

    // Errors: unavailable, with errno's text. The source must unwatch() before it dies.
    [[nodiscard]] base::Result<WatchTable::Token> watch(int descriptor, std::uint32_t events, EventSource& source);
    // Drops events already fetched too. The descriptor leaves epoll when it is closed.
    void unwatch(WatchTable::Token token) noexcept { watches_.remove(token); }
    // For a descriptor that stays open and is not to wake the loop meanwhile.
    void unwatch_open(int descriptor, WatchTable::Token token) noexcept;
    // At the end of the turn, so that no other connection gets the number while events for it are under way; at once
    // outside run(), where the next turn may be long in coming.
    void close_later(Descriptor descriptor);

    [[nodiscard]] base::Instant now() const noexcept { return running_ ? now_ : base::monotonic_now(); }
    [[nodiscard]] std::uint64_t turn() const noexcept { return turn_; }
    [[nodiscard]] ReadyQueue& ready() noexcept { return ready_; }
    [[nodiscard]] TimerWheel& wheel() noexcept { return wheel_; }

private:
    friend class Reactor;
    static constexpr std::size_t events_per_turn = 256;
    static constexpr std::uint64_t turns_per_measurement = 16;

    [[nodiscard]] base::Status start();
    void run();
    void run_turn();
    [[nodiscard]] std::size_t wait_for_events(std::span<epoll_event> events);
    [[nodiscard]] int wait_ms() noexcept;
    void on_events(std::uint32_t events) noexcept override;  // of the mailbox

    Descriptor epoll_;
    Mailbox mailbox_;
    WatchTable watches_;
    ReadyQueue ready_;
    TimerWheel wheel_;
    std::vector<Descriptor> closing_;
    base::Instant now_;
    base::Nanoseconds last_turn_{};
    std::uint64_t turn_ = 0;
    WatchTable::Token mailbox_token_ = 0;
    bool mail_ = false;
    bool running_ = false;
    bool stopping_ = false;
};

}  // namespace weir::io
