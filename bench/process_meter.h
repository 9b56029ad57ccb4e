// ProcessMeter: what the kernel says that processes have used, from /proc: CPU time of each thread and resident memory.
// Threads: any. Units: nanoseconds, KiB.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weir::bench {

struct ThreadTime {
    std::string name;  // as the process has named it
    base::Nanoseconds cpu{0};
};

// Keyed by thread id. A process that is not there (any more) has no threads.
using ThreadTimes = std::map<int, ThreadTime>;
[[nodiscard]] ThreadTimes thread_times(const std::vector<int>& processes);

// What each thread has used since `before`; threads that are new count from their beginning.
[[nodiscard]] ThreadTimes used_between(const ThreadTimes& before, const ThreadTimes& after);

// "123 456 789" (/proc/PID/task/TID/schedstat): the first number is the time on a CPU.
[[nodiscard]] base::Nanoseconds parse_schedstat(std::string_view text) noexcept;
// Resident memory, and the part of it that is no file's: mapped files may be written back and dropped.
struct Resident {
    std::uint64_t all_kib = 0;
    std::uint64_t anonymous_kib = 0;
    friend bool operator==(const Resident&, const Resident&) = default;
};
// The lines "Rss:   1234 kB" and "Anonymous:   1200 kB" of /proc/PID/smaps_rollup; 0 when there is none.
[[nodiscard]] Resident parse_resident(std::string_view smaps_rollup) noexcept;
[[nodiscard]] Resident resident_of(const std::vector<int>& processes);

}  // namespace weir::bench
