#include "ledger/segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

namespace weir::ledger {

namespace {

constexpr std::array<char, 8> magic{'W', 'E', 'I', 'R', 'S', 'P', 'L', '1'};
constexpr std::string_view suffix = ".seg";
constexpr int populate_write = 23;  // MADV_POPULATE_WRITE: Linux 5.14, newer than these headers may be

struct Header {
    std::array<char, 8> magic{};
    std::uint64_t epoch = 0;
    std::uint64_t number = 0;
    std::uint64_t size = 0;
    std::uint64_t logged = 0;
    std::uint32_t origin = 0;
};
static_assert(sizeof(Header) <= segment_header_bytes);

base::Error system_failure(const std::string& path, std::string_view doing, int code) {
    return {base::ErrorCode::unavailable,
            fmt::format("{}: {}: {}", path, doing, std::error_code(code, std::generic_category()).message())};
}

// Closes on every path.
class File {
public:
    explicit File(int descriptor) noexcept : descriptor_{descriptor} {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int get() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

std::byte* map(int descriptor, std::size_t bytes) noexcept {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

std::atomic_ref<std::uint64_t> logged_of(std::byte* data) noexcept {
    return std::atomic_ref<std::uint64_t>{*reinterpret_cast<std::uint64_t*>(data + offsetof(Header, logged))};
}

bool parse_hex(std::string_view text, std::uint64_t& number) noexcept {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string SegmentName::file() const { return fmt::format("{:016x}-{:04x}-{:08x}{}", epoch, origin, number, suffix); }

bool SegmentName::parse(std::string_view file, SegmentName& name) noexcept {
    if (file.size() < 34 || !file.ends_with(suffix) || file[16] != '-' || file[21] != '-') return false;
    std::uint64_t origin = 0;
    if (!parse_hex(file.substr(0, 16), name.epoch) || !parse_hex(file.substr(17, 4), origin) ||
        !parse_hex(file.substr(22, file.size() - 22 - suffix.size()), name.number))
        return false;
    name.origin = static_cast<std::uint32_t>(origin);
    return true;
}

int allocate_on_disk(int descriptor, std::size_t bytes) {
    int code = EINTR;
    while (code == EINTR)
        code = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
    return code;
}

base::Result<std::shared_ptr<Segment>> Segment::create(const std::string& directory, const SegmentName& name,
                                                       std::size_t bytes, const Allocate& allocate) {
    const std::string path = directory + "/" + name.file();
    // Under its own name only once it is whole: what dies before leaves a name that nobody takes for a segment.
    const std::string unfinished = path + ".new";
    const File file{::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    if (file.get() < 0) return std::unexpected{system_failure(unfinished, "cannot be created", errno)};
    const auto give_up = [&unfinished](std::string_view doing, int code) {
        ::unlink(unfinished.c_str());
        return std::unexpected{system_failure(unfinished, doing, code)};
    };
    if (const int code = allocate(file.get(), bytes); code != 0) return give_up("no room on the disk for it", code);
    std::byte* const data = map(file.get(), bytes);
    if (data == nullptr) return give_up("cannot be mapped", errno);
    auto segment = std::shared_ptr<Segment>{new Segment{name, path, data, bytes}};
    const Header header{
        .magic = magic, .epoch = name.epoch, .number = name.number, .size = bytes, .logged = 0, .origin = name.origin};
    std::memcpy(data, &header, sizeof header);
    if (::rename(unfinished.c_str(), path.c_str()) != 0) return give_up("cannot be renamed", errno);
    return segment;
}

base::Result<std::shared_ptr<Segment>> Segment::open(const std::string& directory, const SegmentName& name) {
    const std::string path = directory + "/" + name.file();
    const File file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
    if (file.get() < 0) return std::unexpected{system_failure(path, "cannot be opened", errno)};
    struct stat about{};
    if (::fstat(file.get(), &about) != 0) return std::unexpected{system_failure(path, "cannot be read", errno)};
    const auto no_segment = [&path] { return base::fail(base::ErrorCode::not_found, path + ": is no spool segment"); };
    const auto size = static_cast<std::size_t>(about.st_size);
    if (!S_ISREG(about.st_mode) || size < min_segment_bytes || size > max_segment_bytes) return no_segment();
    std::byte* const data = map(file.get(), size);
    if (data == nullptr) return std::unexpected{system_failure(path, "cannot be mapped", errno)};
    auto segment = std::shared_ptr<Segment>{new Segment{name, path, data, size}};
    Header header;
    std::memcpy(&header, data, sizeof header);
    if (header.magic != magic || header.epoch != name.epoch || header.number != name.number ||
        header.origin != name.origin || header.size != size)
        return no_segment();
    segment->seal();
    return segment;
}

Segment::Segment(SegmentName name, std::string path, std::byte* data, std::size_t size)
    : name_{name}, path_{std::move(path)}, data_{data}, size_{size} {}

Segment::~Segment() { ::munmap(data_, size_); }

base::Status Segment::prefault(std::size_t bytes) noexcept {
    constexpr std::size_t page_bytes = 4096;
    const std::size_t end = std::min(size_, (bytes + page_bytes - 1) / page_bytes * page_bytes);
    if (end <= prefaulted_) return {};
    const std::size_t begin = std::exchange(prefaulted_, end);
    if (::madvise(data_ + begin, end - begin, populate_write) == 0) return {};
    if (errno != EINVAL) {
        prefaulted_ = begin;
        return std::unexpected{system_failure(path_, "its pages cannot be had", errno)};
    }
    // An older kernel. Its owner may be writing already, so that the touch must not change anything.
    for (std::size_t at = begin; at < end; at += page_bytes)
        std::atomic_ref<std::uint32_t>{*reinterpret_cast<std::uint32_t*>(data_ + at)}.fetch_or(0);
    return {};
}

std::size_t Segment::logged() const noexcept {
    return static_cast<std::size_t>(logged_of(data_).load(std::memory_order_relaxed));
}

void Segment::set_logged(std::size_t offset) noexcept {
    if (offset > logged()) logged_of(data_).store(offset, std::memory_order_relaxed);
}

}  // namespace weir::ledger
