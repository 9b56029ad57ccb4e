// WatchTable: who is to be told of a descriptor's events. A token names a slot and its generation, so that an event
// which was fetched before its watcher left is recognised as stale. Pure bookkeeping. Threads: one reactor's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::io {

class EventSource {
public:
    // `events` are epoll's. May unwatch and destroy this source; resumes no coroutine.
    virtual void on_events(std::uint32_t events) noexcept = 0;

protected:
    ~EventSource() = default;
};

class WatchTable {
public:
    using Token = std::uint64_t;  // generation << 32 | slot

    [[nodiscard]] Token add(EventSource& source);
    void remove(Token token) noexcept;
    // nullptr when the watcher that had this token is gone.
    [[nodiscard]] EventSource* find(Token token) const noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return slots_.size() - free_.size(); }

private:
    struct Slot {
        EventSource* source = nullptr;
        std::uint32_t generation = 0;
    };
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
};

}  // namespace weir::io
