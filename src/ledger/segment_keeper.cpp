#include "ledger/segment_keeper.h"

#include "ledger/thread_signals.h"

#include <fmt/format.h>

#include <utility>

namespace weir::ledger {

namespace {

// The bell is rung when something is to be done; this is for what no bell tells: room on the disk again.
constexpr std::chrono::milliseconds look_again{1000};
constexpr std::chrono::milliseconds look_again_for_room{50};

}  // namespace

SegmentKeeper::SegmentKeeper(SpoolDirectory& directory, const std::vector<std::unique_ptr<Spool>>& spools,
                             Bell& room_wanted, std::function<void(std::string_view)> report)
    : directory_{directory}, spools_{spools}, room_wanted_{room_wanted}, report_{std::move(report)} {}

SegmentKeeper::~SegmentKeeper() { stop(); }

base::Status SegmentKeeper::start() {
    if (auto filled = fill(SpoolDirectory::Need::first); !filled) return filled;
    thread_ = std::jthread{[this] { run(); }};
    return {};
}

void SegmentKeeper::stop() {
    stopping_.store(true);
    room_wanted_.wake();
    if (thread_.joinable()) thread_.join();
}

void SegmentKeeper::run() {
    block_all_signals();
    while (!stopping_.load()) {
        room_wanted_.sleep(failing_ ? look_again_for_room : look_again);
        if (!stopping_.load()) note(fill(SpoolDirectory::Need::more));
    }
}

base::Status SegmentKeeper::fill(SpoolDirectory::Need need) {
    base::Status worst;
    for (const auto& spool : spools_)
        if (auto filled = fill(*spool, need); !filled) worst = std::move(filled);
    return worst;
}

base::Status SegmentKeeper::fill(Spool& spool, SpoolDirectory::Need need) {
    while (spool.missing()) {
        auto segment = directory_.allocate(spool.origin(), need);
        if (!segment) return std::unexpected{std::move(segment).error()};
        spool.grant(*std::move(segment));
    }
    // What is reserved behind the window costs disk, not memory.
    base::Status ready;
    for (const auto& part : spool.upcoming())
        if (ready) ready = part.segment->prefault(part.end);
    return ready;
}

void SegmentKeeper::note(const base::Status& filled) {
    if (filled.has_value() != failing_) return;
    failing_ = !filled;
    if (!report_) return;
    if (failing_)
        report_(fmt::format("no further spool segment: {}; when the present ones are full, requests are {}",
                            filled.error().message(),
                            directory_.options().when_full == WhenFull::refuse ? "refused" : "not recorded"));
    else
        report_("the spool has room again");
}

}  // namespace weir::ledger
