#include "ledger/spool_directory.h"

#include "base/random.h"
#include "base/units.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

namespace weir::ledger {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view lock_name = "lock";
// So many segments of a worker, one in use and others ahead or behind, must fit under the cap.
constexpr std::uint64_t segments_of_a_worker = 8;
constexpr std::size_t max_left_over = 65536;

std::unexpected<base::Error> refuse(const std::string& path, std::string_view why) {
    return base::fail(base::ErrorCode::unavailable, fmt::format("spool {}: {}", path, why));
}

std::string reason_of(int code) { return std::error_code(code, std::generic_category()).message(); }

// The descriptor that holds the lock.
base::Result<int> lock_directory(const std::string& path) {
    const std::string file = path + "/" + std::string{lock_name};
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return refuse(path, "cannot be locked: " + reason_of(errno));
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
    const int code = errno;
    ::close(descriptor);
    if (code != EWOULDBLOCK) return refuse(path, "cannot be locked: " + reason_of(code));
    return refuse(path,
                  "another weir uses it; each process needs a directory of its own, set store.spool.path (or wait "
                  "until the other one has ended)");
}

bool ends_as_ours(std::string_view file) noexcept { return file.ends_with(".seg.new"); }

}  // namespace

base::Result<std::unique_ptr<SpoolDirectory>> SpoolDirectory::open(SpoolOptions options, std::size_t workers) {
    const std::uint64_t share = options.cap_bytes / (segments_of_a_worker * std::max<std::size_t>(workers, 1));
    if (share < min_segment_bytes) {
        const auto least = segments_of_a_worker * workers * min_segment_bytes;
        return refuse(options.path,
                      fmt::format("store.spool.cap: {} is too little for {} workers, which need {}",
                                  base::format_size(options.cap_bytes), workers, base::format_size(least)));
    }
    constexpr std::uint64_t page_bytes = 4096;
    const auto segment_bytes =
        std::clamp<std::uint64_t>(std::min(options.segment_bytes, share), min_segment_bytes, max_segment_bytes);
    std::error_code failure;
    const bool made = fs::create_directories(options.path, failure);
    if (failure) return refuse(options.path, "cannot be made: " + failure.message());
    if (made) fs::permissions(options.path, fs::perms::owner_all, failure);  // another's directory keeps its mode
    auto lock = lock_directory(options.path);
    if (!lock) return std::unexpected{std::move(lock).error()};
    return std::unique_ptr<SpoolDirectory>{
        new SpoolDirectory{std::move(options), *lock, segment_bytes / page_bytes * page_bytes}};
}

SpoolDirectory::SpoolDirectory(SpoolOptions options, int lock, std::size_t segment_bytes)
    : options_{std::move(options)}, lock_{lock}, segment_bytes_{segment_bytes}, epoch_{base::Random::from_system()()} {}

SpoolDirectory::~SpoolDirectory() { ::close(lock_); }

LeftOver SpoolDirectory::left_over() {
    LeftOver found;
    std::error_code failure;
    for (fs::directory_iterator entry{options_.path, failure}; !failure && entry != fs::directory_iterator{};
         entry.increment(failure)) {
        const std::string file = entry->path().filename().string();
        if (file == lock_name) continue;
        SegmentName name;
        if (ends_as_ours(file) && SegmentName::parse(file.substr(0, file.size() - 4), name)) {
            ::unlink(entry->path().c_str());
            continue;
        }
        auto segment = SegmentName::parse(file, name) && found.segments.size() < max_left_over
                           ? Segment::open(options_.path, name)
                           : base::Result<std::shared_ptr<Segment>>{base::fail(base::ErrorCode::not_found, file)};
        if (!segment) {
            found.foreign.push_back(file);
            continue;
        }
        bytes_.fetch_add((*segment)->size(), std::memory_order_relaxed);
        found.segments.push_back(*std::move(segment));
    }
    std::ranges::sort(found.segments, {}, [](const auto& segment) {
        const auto& name = segment->name();
        return std::tuple{name.epoch, name.origin != carry_origin, name.origin, name.number};
    });
    return found;
}

bool SpoolDirectory::take(std::uint64_t bytes, bool above_cap) noexcept {
    const auto before = bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (above_cap || before + bytes <= options_.cap_bytes) return true;
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
}

base::Result<std::shared_ptr<Segment>> SpoolDirectory::allocate(std::uint32_t origin, Need need) {
    if (!take(segment_bytes_, need == Need::first || origin == carry_origin))
        return base::fail(base::ErrorCode::too_large,
                          fmt::format("spool {}: it has reached store.spool.cap, {}", options_.path,
                                      base::format_size(options_.cap_bytes)));
    const SegmentName name{.epoch = epoch_, .origin = origin, .number = next_number_.fetch_add(1)};
    auto segment = Segment::create(options_.path, name, segment_bytes_, options_.allocate);
    if (!segment) bytes_.fetch_sub(segment_bytes_, std::memory_order_relaxed);
    return segment;
}

void SpoolDirectory::remove(Segment& segment) noexcept {
    ::unlink(segment.path().c_str());
    bytes_.fetch_sub(segment.size(), std::memory_order_relaxed);
}

}  // namespace weir::ledger
