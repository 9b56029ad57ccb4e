// Segment: one file of a spool, mapped into memory: a header, then frames. Its blocks are allocated before it is
// mapped, so that a full disk is an error here and never a SIGBUS later. Unmapping leaves the file; SpoolDirectory
// removes it. Threads: one worker appends, the writer reads; prefault() from a third, the keeper. Which frames are
// still needed is the writer's.
#pragma once

#include "base/result.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace weir::ledger {

// Which segment it is; also its file's name.
struct SegmentName {
    std::uint64_t epoch = 0;   // the process
    std::uint32_t origin = 0;  // the spool, that is: the worker; carry_origin for the writer's own
    std::uint64_t number = 0;

    [[nodiscard]] std::string file() const;
    [[nodiscard]] static bool parse(std::string_view file, SegmentName& name) noexcept;
    friend auto operator<=>(const SegmentName&, const SegmentName&) = default;
};

inline constexpr std::uint32_t carry_origin = 0xFFFF;
inline constexpr std::size_t segment_header_bytes = 64;
inline constexpr std::size_t min_segment_bytes = 64 * 1024;
inline constexpr std::size_t max_segment_bytes = 64 * 1024 * 1024;

// Gives a file that many bytes on the disk; 0 or an errno. posix_fallocate but in tests.
using Allocate = std::function<int(int descriptor, std::size_t bytes)>;
[[nodiscard]] int allocate_on_disk(int descriptor, std::size_t bytes);

class Segment {
public:
    // A new file of exactly this size. Errors: unavailable (disk full, directory gone), with the path.
    [[nodiscard]] static base::Result<std::shared_ptr<Segment>> create(const std::string& directory,
                                                                       const SegmentName& name, std::size_t bytes,
                                                                       const Allocate& allocate);
    // A file that another process left. Errors: not_found (it is no segment), unavailable.
    [[nodiscard]] static base::Result<std::shared_ptr<Segment>> open(const std::string& directory,
                                                                     const SegmentName& name);
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;
    ~Segment();

    [[nodiscard]] const SegmentName& name() const noexcept { return name_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::byte* data() noexcept { return data_; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    // Has the pages of the first `bytes` there and writable, so that the first write to one finds it. May take a
    // millisecond. Errors: unavailable (the file system cannot keep its promise).
    [[nodiscard]] base::Status prefault(std::size_t bytes) noexcept;

    // The worker will append nothing more.
    void seal() noexcept { sealed_.store(true, std::memory_order_release); }
    [[nodiscard]] bool sealed() const noexcept { return sealed_.load(std::memory_order_acquire); }

    // Records that became final before this offset are in the access log; kept in the file.
    [[nodiscard]] std::size_t logged() const noexcept;
    // Never goes back: what a batch of earlier records says later changes nothing.
    void set_logged(std::size_t offset) noexcept;

    // The writer's own.
    std::size_t read_offset = segment_header_bytes;
    bool consumed = false;        // sealed, and every frame was read
    std::uint32_t open_frames = 0;  // frames of requests that are not final
    std::size_t open_bytes = 0;
    std::uint32_t unstored = 0;   // final records that are not in the store
    std::uint32_t unlogged = 0;   // records that became final here and whose lines are still to be written
    bool foreign = false;         // has frames that only another version of weir can read: it stays

private:
    Segment(SegmentName name, std::string path, std::byte* data, std::size_t size);

    SegmentName name_;
    std::string path_;
    std::byte* data_;
    std::size_t size_;
    std::atomic<bool> sealed_{false};
    std::size_t prefaulted_ = 0;  // the keeper's own
};

}  // namespace weir::ledger
