#include "ledger/access_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>
#include <utility>

namespace weir::ledger {

namespace {

constexpr int no_descriptor = -1;
constexpr int longest_stall_ms = 250;

int open_file(const std::string& path) {
    // Non-blocking, so that opening a FIFO without a reader is an error and not an endless wait.
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0640);
}

bool is_regular_file(int descriptor) {
    struct stat about{};
    return descriptor >= 0 && ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

// A process that was killed inside a write may have left half a line.
bool ends_inside_a_line(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return false;
    const off_t size = ::lseek(descriptor, 0, SEEK_END);
    char last = '\n';
    const bool read = size > 0 && ::pread(descriptor, &last, 1, size - 1) == 1;
    ::close(descriptor);
    return read && last != '\n';
}

}  // namespace

base::Result<AccessLog> AccessLog::open(const std::string& path) {
    if (path == "off") return AccessLog{path, no_descriptor};
    const int descriptor = path == "-" ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : open_file(path);
    if (descriptor < 0) {
        const auto why = std::error_code(errno, std::generic_category()).message();
        return base::fail(base::ErrorCode::unavailable, fmt::format("access log {}: {}", path, why));
    }
    AccessLog log{path, descriptor};
    log.in_line_ = log.is_file_ && path != "-" && ends_inside_a_line(path);
    return log;
}

AccessLog::AccessLog(std::string path, int descriptor)
    : path_{std::move(path)}, descriptor_{descriptor}, is_file_{is_regular_file(descriptor)} {}

AccessLog::AccessLog(AccessLog&& other) noexcept
    : path_{std::move(other.path_)},
      descriptor_{std::exchange(other.descriptor_, no_descriptor)},
      is_file_{other.is_file_},
      stalled_{other.stalled_},
      in_line_{other.in_line_} {}

AccessLog::~AccessLog() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t AccessLog::append(std::string_view lines) {
    if (descriptor_ < 0 || lines.empty()) return 0;
    const auto count_lines = [](std::string_view text) {
        return static_cast<std::size_t>(std::ranges::count(text, '\n'));
    };
    if (in_line_ && write_all("\n") == 0) return count_lines(lines);
    in_line_ = false;
    const std::size_t written = write_all(lines);
    in_line_ = written > 0 && lines[written - 1] != '\n';
    return count_lines(lines.substr(written));
}

// True = a write makes sense now. Standard output may be a pipe, a terminal or a socket that we share with others, so
// it stays blocking; but after POLLOUT a pipe takes PIPE_BUF bytes without blocking.
bool AccessLog::ready_for_more() {
    if (is_file_) return true;
    pollfd waiting{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    const int ready = ::poll(&waiting, 1, stalled_ ? 0 : longest_stall_ms);
    if (ready < 0) return errno == EINTR;
    stalled_ = ready == 0;
    return ready > 0;
}

// Returns how many bytes were written.
std::size_t AccessLog::write_all(std::string_view text) {
    std::size_t done = 0;
    while (done < text.size()) {
        if (!ready_for_more()) break;
        const std::size_t most = is_file_ ? text.size() : std::size_t{PIPE_BUF};
        const auto part = text.substr(done, most);
        const auto written = ::write(descriptor_, part.data(), part.size());
        if (written >= 0) {
            done += static_cast<std::size_t>(written);
        } else if (errno != EINTR && errno != EAGAIN) {
            break;
        }
    }
    return done;
}

void AccessLog::reopen() {
    if (path_ == "-" || path_ == "off") return;
    const int fresh = open_file(path_);
    if (fresh < 0) return;
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = fresh;
    is_file_ = is_regular_file(fresh);
    stalled_ = false;
    in_line_ = false;
}

}  // namespace weir::ledger
