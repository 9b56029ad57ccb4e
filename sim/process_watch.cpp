#include "sim/process_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

namespace weir::sim {

struct ProcessWatch::State {
    int signals = -1;
    int cancel = -1;
    bool watch_stdin = false;
    std::thread thread;

    ~State() {
        if (thread.joinable()) {
            const std::uint64_t one = 1;
            [[maybe_unused]] const auto written = ::write(cancel, &one, sizeof one);
            thread.join();
        }
        if (signals >= 0) ::close(signals);
        if (cancel >= 0) ::close(cancel);
    }

    // True when the process should end, false when nobody wants to know any more.
    [[nodiscard]] bool wait() const {
        std::array<pollfd, 3> watched{pollfd{.fd = signals, .events = POLLIN, .revents = 0},
                                      pollfd{.fd = cancel, .events = POLLIN, .revents = 0},
                                      pollfd{.fd = watch_stdin ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0}};
        for (;;) {
            if (::poll(watched.data(), watched.size(), -1) < 0) {
                if (errno == EINTR) continue;
                return true;
            }
            if (watched[1].revents != 0) return false;
            if (watched[0].revents != 0 || (watched[2].revents != 0 && stdin_has_ended())) return true;
        }
    }

    // Reads and forgets what is there.
    static bool stdin_has_ended() {
        std::array<char, 256> ignored{};
        return ::read(STDIN_FILENO, ignored.data(), ignored.size()) <= 0;
    }
};

ProcessWatch::ProcessWatch(std::unique_ptr<State> state) : state_{std::move(state)} {}
ProcessWatch::~ProcessWatch() = default;

base::Result<std::unique_ptr<ProcessWatch>> ProcessWatch::create(bool watch_stdin) {
    sigset_t ends{};
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    if (::pthread_sigmask(SIG_BLOCK, &ends, nullptr) != 0)
        return base::fail(base::ErrorCode::unavailable, "cannot block SIGTERM and SIGINT");
    auto state = std::make_unique<State>();
    state->watch_stdin = watch_stdin;
    state->signals = ::signalfd(-1, &ends, SFD_CLOEXEC);
    state->cancel = ::eventfd(0, EFD_CLOEXEC);
    if (state->signals < 0 || state->cancel < 0)
        return base::fail(base::ErrorCode::unavailable,
                          std::string{"cannot watch for signals: "} + std::strerror(errno));
    return std::unique_ptr<ProcessWatch>{new ProcessWatch{std::move(state)}};
}

void ProcessWatch::start(std::function<void()> on_end) {
    state_->thread = std::thread{[this, on_end = std::move(on_end)] {
        if (state_->wait()) on_end();
    }};
}

}  // namespace weir::sim
