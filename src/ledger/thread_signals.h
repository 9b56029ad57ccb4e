// The process's signals are for other threads than the ledger's, and a log whose reader has gone must not end the
// process.
#pragma once

#include <csignal>

namespace weir::ledger {

inline void block_all_signals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace weir::ledger
