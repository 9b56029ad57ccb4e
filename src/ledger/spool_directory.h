// SpoolDirectory: the directory that the segments of one process lie in, and how much of the disk they may take. Locked
// while it is open, so that no second process reads or writes there. Threads: any, but open() and left_over().
#pragma once

#include "base/result.h"
#include "ledger/segment.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weir::ledger {

enum class WhenFull : std::uint8_t { refuse, drop };

struct SpoolOptions {
    std::string path;  // of the directory; made when it is not there
    std::uint64_t cap_bytes = std::uint64_t{1} << 30U;
    std::uint64_t segment_bytes = 4 << 20U;  // min_segment_bytes..max_segment_bytes
    WhenFull when_full = WhenFull::refuse;  // what happens to requests that cannot be recorded
    Allocate allocate = allocate_on_disk;
};

// What an earlier process left.
struct LeftOver {
    std::vector<std::shared_ptr<Segment>> segments;  // by process, its carried frames first, then by age
    std::vector<std::string> foreign;  // files that are not ours, left alone
};

class SpoolDirectory {
public:
    // `workers` may begin a spool each. Errors: unavailable (in use by another process, cannot be made, locked or
    // read; the cap is too small for so many workers), with the path.
    [[nodiscard]] static base::Result<std::unique_ptr<SpoolDirectory>> open(SpoolOptions options, std::size_t workers);
    SpoolDirectory(const SpoolDirectory&) = delete;
    SpoolDirectory& operator=(const SpoolDirectory&) = delete;
    ~SpoolDirectory();

    // Once, before the first allocate().
    [[nodiscard]] LeftOver left_over();
    // A new segment. Errors: too_large (the cap), unavailable (the disk). What makes room may exceed the cap: carry
    // segments, and a process's first ones, which it needs to bring what an earlier one left to the store.
    enum class Need : std::uint8_t { more, first };
    [[nodiscard]] base::Result<std::shared_ptr<Segment>> allocate(std::uint32_t origin, Need need = Need::more);
    void remove(Segment& segment) noexcept;

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t segment_bytes() const noexcept { return segment_bytes_; }
    [[nodiscard]] const SpoolOptions& options() const noexcept { return options_; }

private:
    SpoolDirectory(SpoolOptions options, int lock, std::size_t segment_bytes);
    [[nodiscard]] bool take(std::uint64_t bytes, bool above_cap) noexcept;

    SpoolOptions options_;
    int lock_;
    std::size_t segment_bytes_;
    std::uint64_t epoch_;
    std::atomic<std::uint64_t> next_number_{1};
    std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace weir::ledger
