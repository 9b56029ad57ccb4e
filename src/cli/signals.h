// Signals of the daemon, taken one by one by the main thread: SIGHUP reloads, SIGTERM and SIGINT stop.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace weir::cli {

enum class SignalKind : std::uint8_t { reload, stop };

// Before any other thread is started; also ignores SIGPIPE.
void block_signals() noexcept;
[[nodiscard]] SignalKind next_signal() noexcept;
// At most so long; nullopt when none came.
[[nodiscard]] std::optional<SignalKind> wait_for_signal(std::chrono::nanoseconds timeout) noexcept;

}  // namespace weir::cli
