// Frame: one entry of a spool segment. A frame is written whole before its length is, with release order, so that who
// reads a length reads the frame behind it; the first frame that is not whole ends a segment.
// Layout, little-endian: u32 length (header and payload), u32 CRC-32C of what follows, u16 version, u8 kind, u8 flags,
// u32 origin (the spool), u64 sequence (of the frame), u64 request (the sequence of its `begin`), payload. Frames begin
// at multiples of 8. Threads: one writes, any read. Pure but for the memory it is given.
#pragma once

#include "telemetry/record_codec.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::ledger {

enum class FrameKind : std::uint8_t {
    begin = 1,  // the request got past authentication; payload: what is known of it
    end = 2,  // the record; the one with the highest sequence counts
    settled = 3,  // the last end stands; no payload
};

struct FrameHeader {
    std::uint32_t length = 0;
    std::uint32_t crc = 0;
    std::uint16_t version = telemetry::record_codec_version;
    FrameKind kind{};
    std::uint8_t is_final = 0;  // an end that no other frame follows
    std::uint32_t origin = 0;
    std::uint64_t sequence = 0;
    std::uint64_t request = 0;
};
static_assert(sizeof(FrameHeader) == 32);

inline constexpr std::size_t frame_header_bytes = sizeof(FrameHeader);
inline constexpr std::size_t max_frame_bytes = 4096;
static_assert(frame_header_bytes + telemetry::max_record_bytes + 8 <= max_frame_bytes);

[[nodiscard]] constexpr std::size_t frame_stride(std::size_t length) noexcept { return (length + 7) & ~std::size_t{7}; }

// Makes the frame at `at` (its payload is in place already) visible; the frame behind it is marked as not there.
// Returns its stride. There are max_frame_bytes at `at`.
std::size_t publish_frame(std::byte* at, FrameHeader header, std::size_t payload_bytes) noexcept;

// A copy of a whole frame, made visible like a new one. Returns its stride.
std::size_t copy_frame(std::byte* at, std::span<const std::byte> frame) noexcept;

enum class FrameState : std::uint8_t {
    whole,
    none,  // nothing was written here
    damaged,  // its length or checksum is wrong
    foreign,  // of another version of the format
};

struct FrameView {
    FrameState state{};
    FrameHeader header;
    std::span<const std::byte> payload;
};

// The frame at the front of `rest`, the segment's bytes from there to its end.
[[nodiscard]] FrameView read_frame(std::span<const std::byte> rest) noexcept;

}  // namespace weir::ledger
