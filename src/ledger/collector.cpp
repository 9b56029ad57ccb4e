#include "ledger/collector.h"

#include <fmt/format.h>

#include <utility>

namespace weir::ledger {

Collector::Collector(std::function<void(const std::string&)> report, bool left_over)
    : report_{std::move(report)}, left_over_{left_over} {}

// Sequences count one process's requests: 48 bits last for decades.
std::uint64_t Collector::key_of(const FrameHeader& header) noexcept {
    return (std::uint64_t{header.origin} << 48U) | (header.request & 0xFFFF'FFFF'FFFFU);
}

void Collector::read(Segment& segment, std::vector<Ready>& ready) {
    if (segment.consumed) return;
    // Looked at first: what was appended before the seal is read below.
    const bool sealed = segment.sealed();
    while (true) {
        const auto frame = read_frame(segment.bytes().subspan(segment.read_offset));
        if (frame.state == FrameState::none) break;
        if (frame.state != FrameState::whole) {
            note_fault(segment, frame.state);
            segment.foreign = frame.state == FrameState::foreign;
            break;
        }
        take(segment, frame, ready);
        segment.read_offset += frame_stride(frame.header.length);
    }
    segment.consumed = sealed;
}

void Collector::take(Segment& segment, const FrameView& frame, std::vector<Ready>& ready) {
    const FrameHeader& header = frame.header;
    if (header.kind != FrameKind::settled) keep(header, {.segment = &segment, .offset = segment.read_offset});
    const bool final_end = header.kind == FrameKind::end && header.is_final != 0;
    if (header.kind != FrameKind::settled && !final_end) return;
    const auto found = open_.find(key_of(header));
    // Settled without an end: the record went its way in an earlier life of this directory.
    if (found == open_.end() || found->second.kind != FrameKind::end) return;
    Ready& made = make_ready(found->second, ready);
    made.final_in = &segment;
    ++segment.unlogged;
    made.final_at = segment.read_offset;
    made.logged = segment.read_offset < segment.logged();
    open_.erase(found);
}

// Of two frames of a request the one with the higher sequence counts; a carried copy has its original's.
void Collector::keep(const FrameHeader& header, Place place) {
    const Open fresh{.place = place, .sequence = header.sequence, .length = header.length, .kind = header.kind};
    const auto [found, is_new] = open_.try_emplace(key_of(header), fresh);
    if (!is_new) {
        if (found->second.sequence >= header.sequence) return;
        release(found->second);
        found->second = fresh;
    }
    hold(fresh);
}

void Collector::hold(const Open& open) const noexcept {
    ++open.place.segment->open_frames;
    open.place.segment->open_bytes += frame_stride(open.length);
}

void Collector::release(const Open& open) const noexcept {
    --open.place.segment->open_frames;
    open.place.segment->open_bytes -= frame_stride(open.length);
}

Ready& Collector::make_ready(const Open& open, std::vector<Ready>& ready) const {
    release(open);
    Segment& segment = *open.place.segment;
    ++segment.unstored;
    return ready.emplace_back(Ready{
        .segment = &segment,
        .payload = segment.bytes().subspan(open.place.offset + frame_header_bytes, open.length - frame_header_bytes),
        .interrupted = open.kind == FrameKind::begin,
        .left_over = left_over_});
}

void Collector::finish(std::vector<Ready>& ready) {
    for (const auto& [key, open] : open_)
        make_ready(open, ready);
    open_.clear();
}

void Collector::move_open(Segment& from, const std::function<Place(std::span<const std::byte>)>& copy) {
    for (auto& [key, open] : open_) {
        if (open.place.segment != &from) continue;
        const Place place = copy(from.bytes().subspan(open.place.offset, open.length));
        if (place.segment == nullptr) return;
        release(open);
        open.place = place;
        hold(open);
    }
}

void Collector::note_fault(const Segment& segment, FrameState state) {
    const bool damaged = state == FrameState::damaged;
    ++(damaged ? counters_.damaged : counters_.foreign);
    if (report_)
        report_(fmt::format("{}: offset {}: {}", segment.path(), segment.read_offset,
                            damaged ? "the frame is damaged; what follows it in this file is lost"
                                    : "the frame was written by another version of weir; only that one can read it"));
}

}  // namespace weir::ledger
