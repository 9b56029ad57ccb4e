#include "io/socket.h"

#include "io/block_on.h"
#include "io/task_group.h"
#include "io/test_support.h"

#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::io {
namespace {

using namespace std::chrono_literals;
using test::Connection;

class SocketTest : public testing::Test {
protected:
    [[nodiscard]] Wait soon() const { return {.deadline = reactor_->now() + 5s}; }
    void finish() { ASSERT_TRUE(block_on(*reactor_, tasks_.wait_empty(soon())).has_value()); }

    std::unique_ptr<Reactor> reactor_ = test::make_reactor();
    TaskGroup tasks_{*reactor_, [](std::exception_ptr) { ADD_FAILURE() << "a task crashed"; }};
};

int option(int descriptor, int level, int name) {
    int value = 0;
    socklen_t length = sizeof value;
    test::checked(::getsockopt(descriptor, level, name, &value, &length), "getsockopt");
    return value;
}

TEST_F(SocketTest, reads_what_the_peer_sends_until_it_finishes) {
    Connection connection = test::connected(*reactor_);
    test::send_text(connection.far, "hello ");
    test::send_text(connection.far, "world");
    connection.far.reset();
    EXPECT_EQ(block_on(*reactor_, test::read_to_end(connection.near, soon())).value(), "hello world");
    EXPECT_TRUE(connection.near.peer_finished());
}

TEST_F(SocketTest, reads_the_end_that_came_together_with_the_last_bytes) {
    Connection connection = test::connected(*reactor_);
    test::send_text(connection.far, "bye");
    ::shutdown(connection.far.get(), SHUT_WR);
    // One edge tells of the bytes and of the end; the short read must not hide the end.
    std::array<char, 64> buffer{};
    EXPECT_EQ(block_on(*reactor_, test::read_once(connection.near, buffer, soon()))->bytes, 3U);
    const auto end = block_on(*reactor_, test::read_once(connection.near, buffer, {.deadline = reactor_->now() + 1s}));
    ASSERT_TRUE(end.has_value()) << end.error().message();
    EXPECT_TRUE(end->end_of_stream);
}

TEST_F(SocketTest, reads_the_end_that_came_between_a_short_read_and_the_wait) {
    Connection connection = test::connected(*reactor_);
    test::send_text(connection.far, "bye");
    std::array<char, 64> buffer{};
    EXPECT_EQ(block_on(*reactor_, test::read_once(connection.near, buffer, soon()))->bytes, 3U);
    ::shutdown(connection.far.get(), SHUT_WR);
    EXPECT_TRUE(block_on(*reactor_, test::read_once(connection.near, buffer, soon()))->end_of_stream);
}

TEST_F(SocketTest, a_full_read_leaves_the_rest_readable_and_a_short_one_saves_the_next_call) {
    Connection connection = test::connected(*reactor_);
    test::send_text(connection.far, "abcdef");
    std::array<char, 4> buffer{};
    EXPECT_EQ(block_on(*reactor_, test::read_once(connection.near, buffer, soon()))->bytes, 4U);
    EXPECT_EQ(block_on(*reactor_, test::read_once(connection.near, buffer, soon()))->bytes, 2U);
    const Wait brief{.deadline = reactor_->now() + 2ms};
    const auto nothing = block_on(*reactor_, test::read_once(connection.near, buffer, brief));
    EXPECT_EQ(nothing.error().code(), base::ErrorCode::timeout);
}

TEST_F(SocketTest, reading_an_empty_socket_would_block) {
    Connection connection = test::connected(*reactor_);
    std::array<char, 4> buffer{};
    const auto read = connection.near.try_read(buffer);
    EXPECT_TRUE(read->would_block);
    EXPECT_FALSE(read->end_of_stream);
    EXPECT_EQ(read->bytes, 0U);
}

TEST_F(SocketTest, writes_more_than_the_kernel_takes_as_the_peer_reads_it) {
    Connection connection = test::connected(*reactor_);
    Socket far = test::adopt_far(*reactor_, connection.far);
    const std::string text(12 * 1024 * 1024, 'x');
    std::optional<base::Status> written;
    std::optional<base::Result<std::string>> received;
    tasks_.spawn(test::store(test::write_all(connection.near, text, soon()), written));
    ASSERT_FALSE(written.has_value()) << "the kernel took everything, so nothing was tested";
    tasks_.spawn(test::store(test::read_to_end(far, {.deadline = reactor_->now() + 10s}), received));
    while (!written)
        static_cast<void>(block_on(*reactor_, tasks_.wait_empty({.deadline = reactor_->now() + 2ms})));
    EXPECT_TRUE(written->has_value());
    connection.near.close();
    finish();
    ASSERT_TRUE(received && received->has_value());
    EXPECT_EQ(received->value(), text);
}

TEST_F(SocketTest, gathers_slices_and_takes_more_of_them_than_one_call_can) {
    Connection connection = test::connected(*reactor_);
    std::string letters = "ab";
    const std::vector<iovec> slices(3000, iovec{.iov_base = letters.data(), .iov_len = letters.size()});
    const auto written = connection.near.try_writev(slices);
    ASSERT_TRUE(written.has_value());
    EXPECT_EQ(written->bytes, 2048U);  // 1024 slices: the limit of sendmsg
    EXPECT_FALSE(written->would_block);
    EXPECT_EQ(connection.near.try_writev({})->bytes, 0U);
}

TEST_F(SocketTest, a_peer_that_is_gone_is_an_error_and_not_a_signal) {
    Connection connection = test::connected(*reactor_);
    test::reset(connection.far);
    for (int attempt = 0; attempt < 2; ++attempt) {  // ECONNRESET, then EPIPE
        const auto written = block_on(*reactor_, test::write_all(connection.near, "hello", soon()));
        ASSERT_FALSE(written.has_value());
        EXPECT_EQ(written.error().code(), base::ErrorCode::closed);
    }
}

TEST_F(SocketTest, a_reset_ends_the_wait_and_the_read_says_closed) {
    Connection connection = test::connected(*reactor_);
    std::array<char, 8> buffer{};
    std::optional<base::Result<IoCount>> read;
    tasks_.spawn(test::store(test::read_once(connection.near, buffer, soon()), read));
    test::reset(connection.far);
    finish();
    ASSERT_TRUE(read.has_value() && !read->has_value());
    EXPECT_EQ(read->error().code(), base::ErrorCode::closed);
    EXPECT_TRUE(connection.near.peer_finished());
}

TEST_F(SocketTest, reset_tells_the_peer_that_what_it_got_is_not_complete) {
    Connection connection = test::connected(*reactor_);
    connection.near.reset();
    EXPECT_FALSE(connection.near.is_open());
    char byte = 0;
    EXPECT_EQ(::recv(connection.far.get(), &byte, 1, 0), -1);
    EXPECT_EQ(errno, ECONNRESET);
}

TEST_F(SocketTest, close_is_an_orderly_end_for_the_peer) {
    Connection connection = test::connected(*reactor_);
    connection.near.close();  // outside the loop: at once
    connection.near.close();
    char byte = 0;
    EXPECT_EQ(::recv(connection.far.get(), &byte, 1, 0), 0);
}

TEST_F(SocketTest, one_that_is_not_open_answers_every_call_with_closed) {
    Socket socket;
    std::array<char, 8> buffer{};
    EXPECT_FALSE(socket.is_open());
    EXPECT_FALSE(socket.peer_finished());
    EXPECT_EQ(socket.peer_text(), "unknown");
    EXPECT_EQ(socket.try_read(buffer).error().code(), base::ErrorCode::closed);
    EXPECT_EQ(socket.try_writev({}).error().code(), base::ErrorCode::closed);
    EXPECT_EQ(socket.connect_status().error().code(), base::ErrorCode::closed);
    EXPECT_EQ(block_on(*reactor_, test::read_once(socket, buffer, {})).error().code(), base::ErrorCode::closed);
    socket.on_peer_finished([] { FAIL(); });
    socket.reset();
}

Task<base::Status> connect(Reactor& reactor, SocketAddress address, Socket& into, Wait wait) {
    auto socket = Socket::start_connect(reactor, address);
    if (!socket) co_return std::unexpected{socket.error()};
    into = std::move(*socket);
    base::Status writable = co_await into.wait_writable(wait);
    if (!writable) co_return writable;
    co_return into.connect_status();
}

TEST_F(SocketTest, connects_and_knows_its_peer) {
    const Descriptor listener = test::listen_on_loopback();
    const SocketAddress address = test::local_address(listener.get());
    Socket socket;
    EXPECT_TRUE(block_on(*reactor_, connect(*reactor_, address, socket, soon())).has_value());
    EXPECT_EQ(socket.peer_text(), address.text());
}

TEST_F(SocketTest, a_refused_connection_says_so) {
    const SocketAddress address = test::local_address(test::listen_on_loopback().get());  // closed again
    Socket socket;
    const auto status = block_on(*reactor_, connect(*reactor_, address, socket, soon()));
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code(), base::ErrorCode::unavailable);
    EXPECT_NE(status.error().message().find("refused"), std::string::npos);
}

TEST_F(SocketTest, adopting_what_is_no_socket_fails) {
    EXPECT_EQ(Socket::adopt(*reactor_, -1).error().code(), base::ErrorCode::unavailable);
}

TEST_F(SocketTest, has_the_options_of_every_connection) {
    test::DescriptorPair pair = test::connected_descriptors();
    const int descriptor = pair.near.get();
    const Socket socket = Socket::adopt(*reactor_, pair.near.release()).value();
    EXPECT_EQ(option(descriptor, IPPROTO_TCP, TCP_NODELAY), 1);
    EXPECT_EQ(option(descriptor, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_GT(option(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
    EXPECT_GT(option(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT), 0);
}

}  // namespace
}  // namespace weir::io
