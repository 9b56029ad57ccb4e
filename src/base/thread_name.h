// The name of a thread, as top -H, gdb, perf and /proc/PID/task/TID/comm show it, so that an operator can tell whose
// CPU time it is. Threads: names the calling one.
#pragma once

#include <string>

namespace weir::base {

// At most 15 bytes are kept, which is what the kernel takes.
void name_this_thread(std::string name) noexcept;

}  // namespace weir::base
