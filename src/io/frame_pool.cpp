#include "io/frame_pool.h"

#include <array>
#include <cstdint>
#include <new>
#include <utility>

namespace weir::io {
namespace {

#if __has_feature(address_sanitizer)
constexpr bool recycle = false;
#else
constexpr bool recycle = true;
#endif

// Fine classes, so that a frame which waits wastes little. A block is a multiple of the granule less a word, which is
// what libc's allocator hands out whole; mimalloc rounds up to classes of its own.
constexpr std::size_t granule_bytes = 16;
constexpr std::size_t allocator_bytes = 8;
constexpr std::size_t class_count = 256;
constexpr std::size_t kept_bytes_per_class = 64 * 1024;  // a worker that has used every class keeps 16 MiB

struct FreeFrame {
    FreeFrame* next;
};

// Trivially destructible, so that it may still be read while the thread's other objects are being destroyed.
struct FreeLists {
    std::array<FreeFrame*, class_count> heads{};
    std::array<std::uint32_t, class_count> counts{};
    bool closed = false;
};
constinit thread_local FreeLists lists;

struct Reaper {
    Reaper() = default;
    Reaper(const Reaper&) = delete;
    Reaper& operator=(const Reaper&) = delete;
    ~Reaper() {
        lists.closed = true;
        for (FreeFrame*& head : lists.heads) {
            while (head != nullptr)
                ::operator delete(std::exchange(head, head->next));
        }
    }
    void touch() noexcept {}
};
thread_local Reaper reaper;

constexpr std::size_t class_of(std::size_t bytes) noexcept { return (bytes + allocator_bytes - 1) / granule_bytes; }
constexpr std::size_t class_bytes(std::size_t index) noexcept { return (index + 1) * granule_bytes - allocator_bytes; }

// How many frames of each class are kept.
constexpr auto most_kept = [] {
    std::array<std::uint32_t, class_count> counts{};
    for (std::size_t index = 0; index < class_count; ++index)
        counts[index] = static_cast<std::uint32_t>(kept_bytes_per_class / class_bytes(index));
    return counts;
}();

}  // namespace

void* allocate_frame(std::size_t bytes) {
    const std::size_t index = class_of(bytes);
    if (!recycle || index >= class_count) return ::operator new(bytes);
    FreeFrame* const frame = lists.heads[index];
    if (frame == nullptr) return ::operator new(class_bytes(index));
    lists.heads[index] = frame->next;
    --lists.counts[index];
    return frame;
}

void free_frame(void* frame, std::size_t bytes) noexcept {
    const std::size_t index = class_of(bytes);
    const bool keep = recycle && index < class_count && lists.counts[index] < most_kept[index] && !lists.closed;
    if (!keep) return ::operator delete(frame);
    if (lists.counts[index] == 0) reaper.touch();  // its construction arranges for the clean-up at thread exit
    lists.heads[index] = ::new (frame) FreeFrame{lists.heads[index]};
    ++lists.counts[index];
}

}  // namespace weir::io
