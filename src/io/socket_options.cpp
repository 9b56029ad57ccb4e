#include "io/socket_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace weir::io {
namespace {

constexpr int keepalive_idle_s = 30;
constexpr int keepalive_interval_s = 10;
constexpr int keepalive_probes = 3;
constexpr int user_timeout_ms = 60'000;
constexpr int unsent_bytes = 128 * 1024;

void set_option(int descriptor, int level, int option, int value) noexcept {
    ::setsockopt(descriptor, level, option, &value, sizeof value);
}

// Accepted from a listener that has the options: one look instead of seven calls.
bool has_options(int descriptor) noexcept {
    int value = 0;
    socklen_t length = sizeof value;
    return ::getsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &length) == 0 && value == user_timeout_ms;
}

}  // namespace

void set_connection_options(int descriptor) noexcept {
    if (has_options(descriptor)) return;
    set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle_s);
    set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval_s);
    set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, keepalive_probes);
    set_option(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, unsent_bytes);
    set_option(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, user_timeout_ms);  // last: it is what has_options() looks at
}

}  // namespace weir::io
