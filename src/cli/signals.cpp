#include "cli/signals.h"

#include <csignal>
#include <ctime>

namespace weir::cli {

namespace {

sigset_t handled_signals() noexcept {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGHUP, SIGTERM, SIGINT})
        sigaddset(&set, signal);
    return set;
}

SignalKind kind_of(int signal) noexcept { return signal == SIGHUP ? SignalKind::reload : SignalKind::stop; }

}  // namespace

void block_signals() noexcept {
    const sigset_t set = handled_signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error of the write, like a full disk
}

SignalKind next_signal() noexcept {
    const sigset_t set = handled_signals();
    int signal = 0;
    while (sigwait(&set, &signal) != 0) {}
    return kind_of(signal);
}

std::optional<SignalKind> wait_for_signal(std::chrono::nanoseconds timeout) noexcept {
    const sigset_t set = handled_signals();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(timeout);
    const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (timeout - seconds).count()};
    const int signal = sigtimedwait(&set, nullptr, &limit);
    if (signal < 0) return std::nullopt;
    return kind_of(signal);
}

}  // namespace weir::cli
