// ExitCodes: what a command's exit status says, the same for all. Source: contract.md section 1.
#pragma once

namespace weir::cli {

inline constexpr int exit_done = 0;
inline constexpr int exit_no = 1;           // the answer is no, or a check failed
inline constexpr int exit_usage = 2;        // called in a way that cannot be meant
inline constexpr int exit_environment = 3;  // cannot listen, cannot read a file, store or gateway not reachable

}  // namespace weir::cli
