#include "ledger/frame.h"

#include "base/crc32c.h"

#include <atomic>
#include <cstring>

namespace weir::ledger {

namespace {

constexpr std::size_t checked_from = offsetof(FrameHeader, version);

// Lengths lie at multiples of 8 in a mapping, so they are aligned.
void store_length(std::byte* at, std::uint32_t length, std::memory_order order) noexcept {
    std::atomic_ref<std::uint32_t>{*reinterpret_cast<std::uint32_t*>(at)}.store(length, order);
}

std::uint32_t load_length(const std::byte* at) noexcept {
    // atomic_ref of a const object comes with C++26; a load changes nothing.
    auto* const length = reinterpret_cast<std::uint32_t*>(const_cast<std::byte*>(at));
    return std::atomic_ref<std::uint32_t>{*length}.load(std::memory_order_acquire);
}

}  // namespace

std::size_t publish_frame(std::byte* at, FrameHeader header, std::size_t payload_bytes) noexcept {
    const std::size_t length = frame_header_bytes + payload_bytes;
    std::memcpy(at + checked_from, reinterpret_cast<const std::byte*>(&header) + checked_from,
                frame_header_bytes - checked_from);
    const std::uint32_t crc = base::crc32c({at + checked_from, length - checked_from});
    std::memcpy(at + offsetof(FrameHeader, crc), &crc, sizeof crc);
    store_length(at + frame_stride(length), 0, std::memory_order_relaxed);
    store_length(at, static_cast<std::uint32_t>(length), std::memory_order_release);
    return frame_stride(length);
}

std::size_t copy_frame(std::byte* at, std::span<const std::byte> frame) noexcept {
    constexpr std::size_t behind_length = sizeof(FrameHeader::length);
    std::memcpy(at + behind_length, frame.data() + behind_length, frame.size() - behind_length);
    store_length(at + frame_stride(frame.size()), 0, std::memory_order_relaxed);
    store_length(at, static_cast<std::uint32_t>(frame.size()), std::memory_order_release);
    return frame_stride(frame.size());
}

FrameView read_frame(std::span<const std::byte> rest) noexcept {
    FrameView frame{.state = FrameState::none, .header = {}, .payload = {}};
    if (rest.size() < frame_header_bytes) return frame;
    const std::size_t length = load_length(rest.data());
    if (length == 0) return frame;
    frame.state = FrameState::damaged;
    if (length < frame_header_bytes || length > max_frame_bytes || length > rest.size()) return frame;
    std::memcpy(&frame.header, rest.data(), frame_header_bytes);
    frame.header.length = static_cast<std::uint32_t>(length);
    if (base::crc32c(rest.subspan(checked_from, length - checked_from)) != frame.header.crc) return frame;
    frame.state = frame.header.version == telemetry::record_codec_version ? FrameState::whole : FrameState::foreign;
    frame.payload = rest.subspan(frame_header_bytes, length - frame_header_bytes);
    return frame;
}

}  // namespace weir::ledger
