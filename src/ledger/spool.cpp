#include "ledger/spool.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

namespace weir::ledger {

namespace {

// An end is at most so much larger than the begin of its request, its lists left out.
constexpr std::size_t stride_of(std::size_t payload_bytes) noexcept {
    return frame_stride(frame_header_bytes + payload_bytes);
}
constexpr std::size_t end_reserve(std::size_t begin_bytes) noexcept {
    return stride_of(begin_bytes + telemetry::record_growth_bytes);
}

}  // namespace

Spool::Spool(std::uint32_t origin, const SpoolDirectory& directory, Bell& room_wanted, Bell& news) noexcept
    : origin_{origin},
      when_full_{directory.options().when_full},
      longest_lead_{
          std::clamp<std::uint64_t>(directory.options().cap_bytes / directory.segment_bytes() / 8, shortest_lead, 16)},
      usable_{directory.segment_bytes() - segment_header_bytes - max_frame_bytes},
      room_wanted_{room_wanted},
      news_{news} {}

std::size_t Spool::consumed() const noexcept {
    return current_ == nullptr ? 0 : std::min(at_ - segment_header_bytes, usable_);
}

std::uint64_t Spool::free() const noexcept {
    return granted_.load(std::memory_order_acquire) - (left_behind_ + consumed() + reserved_);
}

// Whether the largest frame fits at at_, in the next segment if need be.
bool Spool::make_contiguous() noexcept {
    if (current_ != nullptr && at_ + max_frame_bytes <= current_->size()) return true;
    const std::scoped_lock lock{mutex_};
    if (spares_.empty()) return false;
    if (current_ != nullptr) {
        current_->seal();
        left_behind_ += usable_;
    }
    const bool first = current_ == nullptr;
    current_ = spares_.front().get();
    at_ = segment_header_bytes;
    window_ends_at_ = 0;
    place_.store(at_, std::memory_order_relaxed);
    in_use_ = spares_.front();
    begun_.push_back(std::move(spares_.front()));
    spares_.pop_front();
    // This was the last: the keeper did not keep up, and is to be further ahead from now on.
    const auto lead = lead_.load(std::memory_order_relaxed);
    if (!first && spares_.empty()) lead_.store(std::min(lead * 2, longest_lead_), std::memory_order_relaxed);
    return true;
}

void Spool::publish(const FrameHeader& header, std::size_t payload_bytes) noexcept {
    at_ += publish_frame(current_->data() + at_, header, payload_bytes);
}

void Spool::note_demand() noexcept {
    demand_.store(left_behind_ + consumed() + reserved_, std::memory_order_relaxed);
    if (at_ >= window_ends_at_) {
        window_ends_at_ = at_ + window_bytes / 4;
        place_.store(at_, std::memory_order_relaxed);
        room_wanted_.wake();
    }
    if (!missing()) {
        // Maybe what was asked for was not missing any more when the keeper looked: ask again the next time.
        asked_at_ = nothing_asked;
        return;
    }
    const auto granted = granted_.load(std::memory_order_relaxed);
    if (std::exchange(asked_at_, granted) != granted) room_wanted_.wake();
}

Ticket Spool::begin(const model::RequestRecord& record) noexcept {
    if (closed_ || !make_contiguous()) {
        note_demand();
        return {};
    }
    const std::size_t size =
        telemetry::encode_record(record, {current_->data() + at_ + frame_header_bytes, telemetry::max_record_bytes});
    const std::size_t reserve = 2 * end_reserve(size);
    if (free() < stride_of(size) + reserve) {
        note_demand();
        return {};
    }
    const std::uint64_t sequence = ++sequence_;
    publish({.kind = FrameKind::begin, .origin = origin_, .sequence = sequence, .request = sequence}, size);
    reserved_ += reserve;
    note_demand();
    return {.request = sequence, .reserved = reserve};
}

bool Spool::serves_unrecorded() noexcept {
    if (when_full_ == WhenFull::refuse) return false;
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void Spool::end(Ticket& ticket, const model::RequestRecord& record, Ending ending) noexcept {
    if (!ticket.open()) return;
    // Half of the reserve is for another end; what nobody has reserved may be used for lists.
    const bool first = ending == Ending::provisional;
    const std::size_t mine = first ? ticket.reserved / 2 : ticket.reserved;
    const std::uint64_t most = std::min<std::uint64_t>(free() + mine, max_frame_bytes) - frame_header_bytes - 8;
    const bool fits = make_contiguous();
    assert(fits && "room was reserved for it");
    if (!fits) return;
    const std::size_t size = telemetry::encode_record(
        record, {current_->data() + at_ + frame_header_bytes,
                 std::min<std::size_t>(static_cast<std::size_t>(most), telemetry::max_record_bytes)});
    publish({.kind = FrameKind::end,
             .is_final = static_cast<std::uint8_t>(!first),
             .origin = origin_,
             .sequence = ++sequence_,
             .request = ticket.request},
            size);
    reserved_ -= mine;
    ticket.reserved -= mine;
    if (!first) {
        ticket.request = 0;
        news_.ring();
    }
    note_demand();
}

void Spool::settle(Ticket& ticket) noexcept {
    if (!ticket.open()) return;
    const bool fits = make_contiguous();
    assert(fits && "room was reserved for it");
    if (!fits) return;
    publish({.kind = FrameKind::settled, .origin = origin_, .sequence = ++sequence_, .request = ticket.request}, 0);
    reserved_ -= ticket.reserved;
    ticket = {};
    note_demand();
    news_.ring();
}

void Spool::close() noexcept {
    if (current_ != nullptr) current_->seal();
    closed_ = true;
}

void Spool::grant(std::shared_ptr<Segment> segment) {
    const std::scoped_lock lock{mutex_};
    spares_.push_back(std::move(segment));
    granted_.fetch_add(usable_, std::memory_order_release);
}

bool Spool::missing() const noexcept {
    const auto granted = granted_.load(std::memory_order_relaxed);
    const auto lead = lead_.load(std::memory_order_relaxed);
    return granted < demand_.load(std::memory_order_relaxed) + lead * usable_ + usable_ / 2;
}

std::vector<Spool::Upcoming> Spool::upcoming() {
    const std::scoped_lock lock{mutex_};
    std::vector<Upcoming> parts;
    std::size_t end = place_.load(std::memory_order_relaxed) + window_bytes;
    if (in_use_) {
        parts.push_back({.segment = in_use_, .end = std::min(end, in_use_->size())});
        end -= parts.back().end;
    }
    if (end > 0 && !spares_.empty()) parts.push_back({.segment = spares_.front(), .end = end});
    return parts;
}

void Spool::take_new_segments(std::vector<std::shared_ptr<Segment>>& segments) {
    const std::scoped_lock lock{mutex_};
    std::ranges::move(begun_, std::back_inserter(segments));
    begun_.clear();
}

std::deque<std::shared_ptr<Segment>> Spool::take_unused() {
    const std::scoped_lock lock{mutex_};
    return std::exchange(spares_, {});
}

}  // namespace weir::ledger
