// The options that every TCP connection of ours has. A listener that has them hands them down to what it accepts.
#pragma once

namespace weir::io {

// Best effort: sockets that are not TCP do not have them. No delay for small writes; a peer that vanishes is noticed
// within about a minute (keepalive when idle, TCP_USER_TIMEOUT with bytes unacknowledged); the kernel hides at most
// 128 KiB of unsent bytes from us.
void set_connection_options(int descriptor) noexcept;

}  // namespace weir::io
