// The calls that every turn of a loop makes, without libc's around them: those are points at which a thread may be
// cancelled, and pay for it with two atomic exchanges each time. No thread of ours is ever cancelled.
// Results and errno are those of the libc functions. AddressSanitizer and ThreadSanitizer look into the libc functions,
// so those builds call them.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <span>

namespace weir::io {

#if defined(SYS_epoll_wait) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

[[nodiscard]] inline ssize_t receive(int descriptor, std::span<char> into) noexcept {
    return ::syscall(SYS_recvfrom, descriptor, into.data(), into.size(), 0, nullptr, nullptr);
}
[[nodiscard]] inline ssize_t send_message(int descriptor, const msghdr& message, int flags) noexcept {
    return ::syscall(SYS_sendmsg, descriptor, &message, flags);
}
[[nodiscard]] inline int wait_for_events(int epoll, std::span<epoll_event> events, int timeout_ms) noexcept {
    return static_cast<int>(
        ::syscall(SYS_epoll_wait, epoll, events.data(), static_cast<int>(events.size()), timeout_ms));
}

#else

[[nodiscard]] inline ssize_t receive(int descriptor, std::span<char> into) noexcept {
    return ::recv(descriptor, into.data(), into.size(), 0);
}
[[nodiscard]] inline ssize_t send_message(int descriptor, const msghdr& message, int flags) noexcept {
    return ::sendmsg(descriptor, &message, flags);
}
[[nodiscard]] inline int wait_for_events(int epoll, std::span<epoll_event> events, int timeout_ms) noexcept {
    return ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), timeout_ms);
}

#endif

}  // namespace weir::io
