#include "ledger/segment_shelf.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weir::ledger {

namespace {

// A message for a list that may be long.
std::string first_of(const std::vector<std::string>& files) {
    return files.size() == 1 ? files.front() : fmt::format("{} and {} more", files.front(), files.size() - 1);
}

}  // namespace

SegmentShelf::SegmentShelf(SpoolDirectory& directory, Report report)
    : directory_{directory}, report_{std::move(report)}, collector_{report_} {}

void SegmentShelf::recover(std::vector<Ready>& ready) {
    auto left = directory_.left_over();
    if (!left.foreign.empty() && report_)
        report_(fmt::format("spool {}: no segments of ours, left alone: {}", directory_.options().path,
                            first_of(left.foreign)));
    const std::size_t before = ready.size();
    std::uint64_t damaged = 0;
    for (auto first = left.segments.begin(); first != left.segments.end();) {
        // Sequences are those of one process.
        const auto epoch = (*first)->name().epoch;
        const auto last =
            std::find_if(first, left.segments.end(), [epoch](const auto& s) { return s->name().epoch != epoch; });
        Collector collector{report_, true};
        std::for_each(first, last, [&](const auto& segment) { collector.read(*segment, ready); });
        collector.finish(ready);
        damaged += collector.counters().damaged;
        first = last;
    }
    if (!left.segments.empty() && report_) {
        const auto interrupted = std::count_if(ready.begin() + static_cast<std::ptrdiff_t>(before), ready.end(),
                                               [](const Ready& one) { return one.interrupted; });
        report_(
            fmt::format("recovered from the spool of an earlier process: {} records, {} of them of interrupted "
                        "requests; {} segments, {} damaged frames",
                        ready.size() - before, interrupted, left.segments.size(), damaged));
    }
    std::ranges::move(left.segments, std::back_inserter(segments_));
}

void SegmentShelf::read(std::span<const std::unique_ptr<Spool>> spools, std::vector<Ready>& ready) {
    for (const auto& spool : spools)
        spool->take_new_segments(segments_);
    for (const auto& segment : segments_)
        if (segment->name().origin != carry_origin) collector_.read(*segment, ready);
}

bool SegmentShelf::removed(const std::shared_ptr<Segment>& segment) {
    if (!segment->consumed || segment->unstored > 0 || segment->unlogged > 0 || segment->foreign) return false;
    // Copying from one carry segment to the next pays only when most of it is dead.
    const bool worth_it = segment->name().origin != carry_origin || segment->open_bytes * 2 <= segment->size();
    if (segment->open_frames > 0 && worth_it)
        collector_.move_open(*segment, [this](std::span<const std::byte> frame) { return copy(frame); });
    if (segment->open_frames > 0) return false;
    directory_.remove(*segment);
    return true;
}

void SegmentShelf::retire() {
    // By index: carrying puts further segments on the shelf.
    std::vector<std::shared_ptr<Segment>> kept;
    for (std::size_t i = 0; i < segments_.size(); ++i)
        if (!removed(std::shared_ptr{segments_[i]})) kept.push_back(segments_[i]);
    segments_ = std::move(kept);
}

void SegmentShelf::retire_all() {
    if (carry_) carry_->consumed = true;
    carry_.reset();
    retire();
}

Collector::Place SegmentShelf::copy(std::span<const std::byte> frame) {
    if (carry_ && carry_at_ + max_frame_bytes > carry_->size()) {
        carry_->consumed = true;
        carry_.reset();
    }
    if (!carry_) {
        auto fresh = directory_.allocate(carry_origin);
        if (!std::exchange(carry_failing_, !fresh) && !fresh && report_)
            report_(fmt::format("segments of open requests stay: {}", fresh.error().message()));
        if (!fresh) return {};
        carry_ = *std::move(fresh);
        carry_at_ = segment_header_bytes;
        segments_.push_back(carry_);
    }
    const std::size_t offset = carry_at_;
    carry_at_ += copy_frame(carry_->data() + offset, frame);
    return {.segment = carry_.get(), .offset = offset};
}

}  // namespace weir::ledger
