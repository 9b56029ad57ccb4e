// AccessLog: appends whole lines to a file or standard output, many in one write. A log that cannot be written loses
// lines, which are counted, but it never holds up records: a reader that takes nothing is waited for once, briefly.
// Invariant: no line is torn, a lost line apart: what follows a cut begins on a new line. Used by one thread.
#pragma once

#include "base/result.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace weir::ledger {

class AccessLog {
public:
    // "-" = standard output, "off" = none. A file is created with mode 0640. Errors: unavailable, with the path.
    [[nodiscard]] static base::Result<AccessLog> open(const std::string& path);
    AccessLog(AccessLog&& other) noexcept;
    AccessLog& operator=(AccessLog&&) = delete;
    ~AccessLog();

    [[nodiscard]] bool enabled() const noexcept { return descriptor_ >= 0; }
    // `lines` are complete, each with its line end. Returns how many were lost. The thread has SIGPIPE blocked or
    // ignored.
    [[nodiscard]] std::size_t append(std::string_view lines);
    // Keeps the old file when the new one cannot be opened.
    void reopen();

private:
    AccessLog(std::string path, int descriptor);
    [[nodiscard]] bool ready_for_more();
    [[nodiscard]] std::size_t write_all(std::string_view text);

    std::string path_;
    int descriptor_;
    bool is_file_ = false;   // never makes anybody wait for a reader
    bool stalled_ = false;   // the reader let the last append down: do not wait for it again
    bool in_line_ = false;   // the last append was cut inside a line
};

}  // namespace weir::ledger
