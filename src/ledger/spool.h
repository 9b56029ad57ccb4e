// Spool: one worker's end of the spool. It appends the frames of the worker's requests to mapped segments: no system
// call, no allocation, no lock but at a segment's end. A request that is let in has room reserved for its end, twice
// (an end may be amended once), whatever happens to disk and store meanwhile.
// Threads: begin(), end() and settle() on the worker's; grant(), missing() and upcoming() on the keeper's;
// take_new_segments() on the writer's; close() when the worker has ended.
#pragma once

#include "ledger/bell.h"
#include "ledger/frame.h"
#include "ledger/segment.h"
#include "ledger/spool_directory.h"
#include "model/record.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace weir::ledger {

// A request's place in the spool, from begin() to its last frame.
struct Ticket {
    std::uint64_t request = 0;  // 0 = not in the spool
    std::size_t reserved = 0;   // bytes
    [[nodiscard]] bool open() const noexcept { return request != 0; }
};

enum class Ending : std::uint8_t {
    provisional,  // settle() or another end() follows
    final_,       // nothing follows
};

class Spool {
public:
    // Both bells outlive the spool. `room_wanted` is rung when segments run short, `news` when a record is final.
    Spool(std::uint32_t origin, const SpoolDirectory& directory, Bell& room_wanted, Bell& news) noexcept;
    Spool(const Spool&) = delete;
    Spool& operator=(const Spool&) = delete;

    // What is known of a request at its authentication. A ticket that is not open: there is no room.
    [[nodiscard]] Ticket begin(const model::RequestRecord& record) noexcept;
    // Whether a request for which begin() found no room is served without a record; it then counts as dropped.
    [[nodiscard]] bool serves_unrecorded() noexcept;
    // At most two ends for a ticket. Nothing happens without an open ticket; a final one closes it.
    void end(Ticket& ticket, const model::RequestRecord& record, Ending ending) noexcept;
    // The last end stands. Closes the ticket.
    void settle(Ticket& ticket) noexcept;
    // No frame comes any more; begin() finds no room.
    void close() noexcept;

    [[nodiscard]] std::uint32_t origin() const noexcept { return origin_; }
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
    // A further segment to write to.
    void grant(std::shared_ptr<Segment> segment);
    // Whether there is less free room than the lead and half a segment: what the worker may use while the keeper is
    // held up.
    [[nodiscard]] bool missing() const noexcept;
    // What is written next, about so many bytes: parts of the segment in use and of the one behind it, to be made
    // ready. The keeper is woken whenever a quarter of the window has been written.
    struct Upcoming {
        std::shared_ptr<Segment> segment;
        std::size_t end = 0;  // an offset in it
    };
    static constexpr std::size_t window_bytes = 1 << 20;
    [[nodiscard]] std::vector<Upcoming> upcoming();
    // The segments that were begun since the last call, in order.
    void take_new_segments(std::vector<std::shared_ptr<Segment>>& segments);
    // Those that were never begun; after close().
    [[nodiscard]] std::deque<std::shared_ptr<Segment>> take_unused();

private:
    [[nodiscard]] bool make_contiguous() noexcept;
    [[nodiscard]] std::size_t consumed() const noexcept;
    [[nodiscard]] std::uint64_t free() const noexcept;
    void publish(const FrameHeader& header, std::size_t payload_bytes) noexcept;
    void note_demand() noexcept;

    const std::uint32_t origin_;
    const WhenFull when_full_;
    static constexpr std::uint64_t shortest_lead = 2;
    const std::uint64_t longest_lead_;  // a part of the cap, so that a small spool is not always said to be full
    const std::size_t usable_;  // of a segment: what is left of its end when a frame does not fit is not counted
    Bell& room_wanted_;
    Bell& news_;

    // The worker's own.
    Segment* current_ = nullptr;  // owned by the writer from when it is begun until it is sealed and read
    std::size_t at_ = 0;
    bool closed_ = false;
    std::uint64_t sequence_ = 0;
    std::uint64_t left_behind_ = 0;  // usable bytes of the segments before this one
    std::uint64_t reserved_ = 0;
    static constexpr std::uint64_t nothing_asked = ~std::uint64_t{0};
    std::uint64_t asked_at_ = nothing_asked;  // what was granted when the keeper was asked for more
    std::size_t window_ends_at_ = 0;  // the place at which the keeper is to move the window on

    // Usable bytes since the beginning: given, and used or reserved.
    std::atomic<std::uint64_t> granted_{0};
    // How many segments the keeper is ahead; twice as many whenever the worker has taken the last.
    std::atomic<std::uint64_t> lead_{shortest_lead};
    std::atomic<std::uint64_t> demand_{0};
    std::atomic<std::size_t> place_{0};  // where the window was moved last, in in_use_
    std::atomic<std::uint64_t> dropped_{0};  // requests served without a record

    std::mutex mutex_;
    std::deque<std::shared_ptr<Segment>> spares_;
    std::vector<std::shared_ptr<Segment>> begun_;
    std::shared_ptr<Segment> in_use_;
};

}  // namespace weir::ledger
