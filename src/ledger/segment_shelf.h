// SegmentShelf: every segment that has something in it: of the workers, of an earlier process, and the carry segments,
// into which the frames of long requests are copied so that one stream of ten minutes does not keep everything that was
// written beside it. A segment is removed when nothing in it is needed: its records are committed, and no request that
// is open has its newest frame there. Threads: the writer's. The directory outlives it.
#pragma once

#include "ledger/collector.h"
#include "ledger/segment.h"
#include "ledger/spool.h"
#include "ledger/spool_directory.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weir::ledger {

class SegmentShelf {
public:
    using Report = std::function<void(const std::string&)>;
    SegmentShelf(SpoolDirectory& directory, Report report);

    // What an earlier process left: every record in it becomes ready, those of requests without an end as interrupted.
    void recover(std::vector<Ready>& ready);
    // What the workers have appended since the last call.
    void read(std::span<const std::unique_ptr<Spool>> spools, std::vector<Ready>& ready);
    // Removes what is not needed, carrying open requests over.
    void retire();
    // The same at the end, when every spool is closed and read: carry segments too.
    void retire_all();
    [[nodiscard]] std::size_t size() const noexcept { return segments_.size(); }

private:
    [[nodiscard]] bool removed(const std::shared_ptr<Segment>& segment);
    [[nodiscard]] Collector::Place copy(std::span<const std::byte> frame);

    SpoolDirectory& directory_;
    Report report_;
    Collector collector_;
    std::vector<std::shared_ptr<Segment>> segments_;
    std::shared_ptr<Segment> carry_;  // the one that is written to; also on the shelf
    std::size_t carry_at_ = 0;
    bool carry_failing_ = false;
};

}  // namespace weir::ledger
