// Collector: makes records of frames. It reads the segments of one process in the order in which they were written,
// knows which requests are still open, and says which records are final and which segments are still needed.
// Invariant: a request becomes final once; a segment counts the frames in it that an open request (`open_frames`) or a
// record on its way to the store (`unstored`) is made of. Threads: the writer's. Segments outlive what refers to them.
#pragma once

#include "ledger/frame.h"
#include "ledger/segment.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir::ledger {

// A final record, still encoded.
struct Ready {
    Segment* segment = nullptr;  // holds the payload; its `unstored` counts this
    std::span<const std::byte> payload;
    Segment* final_in = nullptr;  // where the frame lies that made it final; nullptr = its process died before. Its
                                  // `unlogged` counts this, so that it stays until its mark is set
    std::size_t final_at = 0;  // that frame's offset
    bool interrupted = false;  // only its begin is known
    bool logged = false;  // its line is in the access log
    bool left_over = false;  // of an earlier process, so that the store may have it already
};

struct CollectorCounters {
    std::uint64_t damaged = 0;  // frames whose length or checksum is wrong; each ends its segment
    std::uint64_t foreign = 0;  // frames of another version; likewise
};

class Collector {
public:
    // `report` is told of each frame that is damaged or foreign, with its position. May be empty.
    explicit Collector(std::function<void(const std::string&)> report, bool left_over = false);

    // Everything that was appended to the segment since the last call; when it is sealed, it is then consumed.
    void read(Segment& segment, std::vector<Ready>& ready);
    // Nothing more comes: what is open is final as it stands.
    void finish(std::vector<Ready>& ready);
    // Copies the frames that open requests need out of this segment, so that nothing of it is open any more. `copy`
    // appends a frame to another segment; without room it returns nullptr, and what was not copied stays.
    struct Place {
        Segment* segment = nullptr;
        std::size_t offset = 0;
    };
    void move_open(Segment& from, const std::function<Place(std::span<const std::byte> frame)>& copy);

    [[nodiscard]] std::size_t open_requests() const noexcept { return open_.size(); }
    [[nodiscard]] const CollectorCounters& counters() const noexcept { return counters_; }

private:
    struct Open {
        Place place;  // of the newest frame
        std::uint64_t sequence = 0;
        std::uint32_t length = 0;
        FrameKind kind{};
    };
    [[nodiscard]] static std::uint64_t key_of(const FrameHeader& header) noexcept;
    void take(Segment& segment, const FrameView& frame, std::vector<Ready>& ready);
    void keep(const FrameHeader& header, Place place);
    void hold(const Open& open) const noexcept;
    void release(const Open& open) const noexcept;
    Ready& make_ready(const Open& open, std::vector<Ready>& ready) const;
    void note_fault(const Segment& segment, FrameState state);

    std::function<void(const std::string&)> report_;
    bool left_over_;
    std::unordered_map<std::uint64_t, Open> open_;
    CollectorCounters counters_;
};

}  // namespace weir::ledger
