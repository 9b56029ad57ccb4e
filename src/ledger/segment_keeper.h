// SegmentKeeper: the thread that keeps every spool in segments: one in use, two ahead, and more when requests
// have reserved more. A thread of its own, because the writer may wait seconds for a store that is locked or a disk
// that is slow, and workers must have room meanwhile. Threads: start() and stop() from one. The directory and the
// spools outlive it.
#pragma once

#include "base/result.h"
#include "ledger/bell.h"
#include "ledger/spool.h"
#include "ledger/spool_directory.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace weir::ledger {

class SegmentKeeper {
public:
    SegmentKeeper(SpoolDirectory& directory, const std::vector<std::unique_ptr<Spool>>& spools, Bell& room_wanted,
                  std::function<void(std::string_view)> report);
    SegmentKeeper(const SegmentKeeper&) = delete;
    SegmentKeeper& operator=(const SegmentKeeper&) = delete;
    ~SegmentKeeper();  // stop()

    // Gives every spool its first segments, then goes on in a thread. Errors: those of SpoolDirectory::allocate.
    [[nodiscard]] base::Status start();
    void stop();

private:
    void run();
    [[nodiscard]] base::Status fill(SpoolDirectory::Need need);
    [[nodiscard]] base::Status fill(Spool& spool, SpoolDirectory::Need need);
    void note(const base::Status& filled);

    SpoolDirectory& directory_;
    const std::vector<std::unique_ptr<Spool>>& spools_;
    Bell& room_wanted_;
    std::function<void(std::string_view)> report_;
    bool failing_ = false;
    std::atomic<bool> stopping_{false};
    std::jthread thread_;
};

}  // namespace weir::ledger
