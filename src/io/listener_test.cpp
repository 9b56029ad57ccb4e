#include "io/listener.h"

#include "io/test_support.h"

#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <optional>
#include <string>

namespace weir::io {
namespace {

base::Status open_and_close(const SocketAddress& address) {
    const auto set = ListenerSet::open(address, 1);
    if (!set) return std::unexpected{set.error()};
    return {};
}

void expect_already_served(const base::Status& status) {
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code(), base::ErrorCode::unavailable);
    EXPECT_NE(status.error().message().find("already served"), std::string::npos) << status.error().message();
}

TEST(ListenerSet, opens_several_listeners_on_one_free_port) {
    auto set = ListenerSet::open(test::loopback(), 3);
    ASSERT_TRUE(set.has_value()) << set.error().message();
    EXPECT_NE(set->address().port(), 0);
    for (std::size_t index = 0; index < 3; ++index) {
        const Descriptor listener{set->take(index)};
        EXPECT_EQ(test::local_address(listener.get()).text(), set->address().text());
        EXPECT_EQ(set->take(index), -1) << "taken already";
    }
}

TEST(ListenerSet, hands_the_connection_options_down_to_what_it_accepts) {
    auto set = ListenerSet::open(test::loopback(), 1);
    const Descriptor listener{set->take(0)};
    const Descriptor client = test::connect_to(set->address());
    const Descriptor accepted{test::checked(::accept4(listener.get(), nullptr, nullptr, 0), "accept4")};
    int value = 0;
    socklen_t length = sizeof value;
    test::checked(::getsockopt(accepted.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &length), "getsockopt");
    EXPECT_GT(value, 0);
    test::checked(::getsockopt(accepted.get(), IPPROTO_TCP, TCP_NODELAY, &value, &length), "getsockopt");
    EXPECT_EQ(value, 1);
}

TEST(ListenerSet, refuses_an_address_that_is_served_and_takes_it_when_it_is_free) {
    std::optional<ListenerSet> first = ListenerSet::open(test::loopback(), 2).value();
    const SocketAddress address = first->address();
    expect_already_served(open_and_close(address));
    first.reset();
    EXPECT_TRUE(open_and_close(address).has_value());
}

TEST(ListenerSet, refuses_it_to_another_process) {
    const auto set = ListenerSet::open(test::loopback(), 1);
    ASSERT_TRUE(set.has_value());
    const pid_t child = ::fork();
    if (child == 0) ::_exit(open_and_close(set->address()).has_value() ? 1 : 0);
    ASSERT_GT(child, 0);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the second process could bind";
}

TEST(ListenerSet, keeps_the_lock_while_the_listeners_are_in_use_elsewhere) {
    std::optional<ListenerSet> set = ListenerSet::open(test::loopback(), 1).value();
    const SocketAddress address = set->address();
    Descriptor listener{set->take(0)};
    expect_already_served(open_and_close(address));
    listener.reset();
    expect_already_served(open_and_close(address));  // the lock
    set.reset();
    EXPECT_TRUE(open_and_close(address).has_value());
}

TEST(ListenerSet, sees_a_wildcard_over_a_specific_address_and_the_reverse) {
    std::optional<ListenerSet> set = ListenerSet::open(SocketAddress::parse("0.0.0.0", 0).value(), 1).value();
    const std::uint16_t port = set->address().port();
    expect_already_served(open_and_close(test::loopback(port)));
    set.reset();
    set = ListenerSet::open(test::loopback(port), 1).value();
    expect_already_served(open_and_close(SocketAddress::parse("0.0.0.0", port).value()));
    EXPECT_TRUE(open_and_close(SocketAddress::parse("127.0.0.2", port).value()).has_value());
}

TEST(ListenerSet, sees_another_program_that_shares_its_port) {
    Descriptor other{test::checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")};
    const int on = 1;
    test::checked(::setsockopt(other.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on), "setsockopt");
    const SocketAddress any = test::loopback();
    test::checked(::bind(other.get(), any.raw(), any.length), "bind");
    test::checked(::listen(other.get(), 1), "listen");
    expect_already_served(open_and_close(test::local_address(other.get())));
}

TEST(ListenerSet, says_what_is_wrong_with_an_address) {
    const auto foreign = open_and_close(SocketAddress::parse("192.0.2.1", 1).value());
    EXPECT_EQ(foreign.error().code(), base::ErrorCode::unavailable);
    EXPECT_NE(foreign.error().message().find("192.0.2.1:1"), std::string::npos);
    EXPECT_EQ(ListenerSet::open(test::loopback(), 0).error().code(), base::ErrorCode::invalid_argument);
}

TEST(DescriptorLimit, is_raised_to_the_hard_limit) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit lowered{.rlim_cur = std::min<rlim_t>(before.rlim_max, 200), .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &lowered), 0);
    EXPECT_EQ(raise_descriptor_limit(), before.rlim_max);
    rlimit after{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
    EXPECT_EQ(after.rlim_cur, before.rlim_max);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace weir::io
