// How waits on sockets end, and the traps of edge-triggered epoll: starvation, stale events, reused descriptors.
#include "io/block_on.h"
#include "io/socket.h"
#include "io/task_group.h"
#include "io/test_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir::io {
namespace {

using namespace std::chrono_literals;
using test::Connection;

class SocketWaitTest : public testing::Test {
protected:
    [[nodiscard]] Wait soon() const { return {.deadline = reactor_->now() + 5s}; }
    void finish() { ASSERT_TRUE(block_on(*reactor_, tasks_.wait_empty(soon())).has_value()); }
    void run_one_turn() {
        reactor_->post([this] { reactor_->stop(); });
        reactor_->run();
    }

    std::unique_ptr<Reactor> reactor_ = test::make_reactor();
    TaskGroup tasks_{*reactor_, [](std::exception_ptr) { ADD_FAILURE() << "a task crashed"; }};
    Cancel cancel_;
};

Task<base::Status> readable(Socket& socket, Wait wait) { co_return co_await socket.wait_readable(wait); }

using test::store;

TEST_F(SocketWaitTest, ends_at_its_deadline_and_not_before) {
    Connection connection = test::connected(*reactor_);
    const base::Instant deadline = reactor_->now() + 4ms;
    const auto outcome = block_on(*reactor_, readable(connection.near, {.deadline = deadline}));
    EXPECT_EQ(outcome.error().code(), base::ErrorCode::timeout);
    EXPECT_GE(base::monotonic_now(), deadline);
}

TEST_F(SocketWaitTest, a_later_wait_has_its_own_deadline) {
    Connection connection = test::connected(*reactor_);
    for (const auto span : {6ms, 1ms, 3ms}) {
        const base::Instant deadline = reactor_->now() + span;
        const auto outcome = block_on(*reactor_, readable(connection.near, {.deadline = deadline}));
        EXPECT_EQ(outcome.error().code(), base::ErrorCode::timeout);
        EXPECT_GE(base::monotonic_now(), deadline);
    }
}

TEST_F(SocketWaitTest, a_suspended_frame_is_resumed_with_cancelled_from_the_loop) {
    Connection connection = test::connected(*reactor_);
    std::optional<base::Status> outcome;
    tasks_.spawn(store(readable(connection.near, {.cancel = &cancel_}), outcome));
    cancel_.fire();
    EXPECT_FALSE(outcome.has_value());
    finish();
    EXPECT_EQ(outcome->error().code(), base::ErrorCode::cancelled);
}

TEST_F(SocketWaitTest, a_fired_cancel_wins_over_readiness) {
    Connection connection = test::connected(*reactor_);
    test::send_text(connection.far, "x");
    cancel_.fire();
    const auto outcome = block_on(*reactor_, readable(connection.near, {.cancel = &cancel_}));
    EXPECT_EQ(outcome.error().code(), base::ErrorCode::cancelled);
}

TEST_F(SocketWaitTest, readiness_wins_over_a_deadline_that_has_passed) {
    Connection connection = test::connected(*reactor_);
    test::send_text(connection.far, "x");
    run_one_turn();
    EXPECT_TRUE(block_on(*reactor_, readable(connection.near, {.deadline = reactor_->now() - 1s})).has_value());
}

TEST_F(SocketWaitTest, a_waiter_is_resumed_with_closed_when_the_socket_closes) {
    Connection connection = test::connected(*reactor_);
    std::optional<base::Status> outcome;
    tasks_.spawn(store(readable(connection.near, {.deadline = reactor_->now() + 1h, .cancel = &cancel_}), outcome));
    connection.near.close();
    EXPECT_FALSE(outcome.has_value());
    finish();
    EXPECT_EQ(outcome->error().code(), base::ErrorCode::closed);
}

TEST_F(SocketWaitTest, a_waiter_survives_the_death_of_its_socket) {
    auto connection = std::make_unique<Connection>(test::connected(*reactor_));
    std::optional<base::Status> outcome;
    tasks_.spawn(store(readable(connection->near, {.deadline = reactor_->now() + 1h}), outcome));
    connection.reset();
    finish();
    EXPECT_EQ(outcome->error().code(), base::ErrorCode::closed);
}

TEST_F(SocketWaitTest, a_waiter_stays_with_a_socket_that_moves) {
    Connection connection = test::connected(*reactor_);
    std::optional<base::Status> outcome;
    tasks_.spawn(store(readable(connection.near, soon()), outcome));
    const Socket moved = std::move(connection.near);
    test::send_text(connection.far, "x");
    finish();
    EXPECT_TRUE(outcome->has_value());
}

TEST_F(SocketWaitTest, a_peer_that_finishes_is_reported_once_while_nobody_reads) {
    Connection connection = test::connected(*reactor_);
    int calls = 0;
    connection.near.on_peer_finished([&calls] { ++calls; });
    test::send_text(connection.far, "unread");
    run_one_turn();
    EXPECT_EQ(calls, 0);
    ::shutdown(connection.far.get(), SHUT_WR);
    run_one_turn();
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(connection.near.peer_finished());
    test::reset(connection.far);
    run_one_turn();
    EXPECT_EQ(calls, 1);
    connection.near.on_peer_finished([&calls] { calls += 10; });  // it already is
    EXPECT_EQ(calls, 11);
}

TEST_F(SocketWaitTest, a_cleared_callback_is_not_called) {
    Connection connection = test::connected(*reactor_);
    connection.near.on_peer_finished([] { FAIL(); });
    connection.near.on_peer_finished(nullptr);
    connection.far.reset();
    run_one_turn();
    EXPECT_TRUE(connection.near.peer_finished());
}

TEST_F(SocketWaitTest, a_peer_that_goes_can_cancel_a_wait_for_somebody_else) {
    Connection client = test::connected(*reactor_);
    Connection upstream = test::connected(*reactor_);
    client.near.on_peer_finished([this] { cancel_.fire(); });
    std::optional<base::Status> outcome;
    tasks_.spawn(store(readable(upstream.near, {.deadline = reactor_->now() + 1h, .cancel = &cancel_}), outcome));
    client.far.reset();
    finish();
    EXPECT_EQ(outcome->error().code(), base::ErrorCode::cancelled);
}

TEST_F(SocketWaitTest, the_callback_may_destroy_its_socket) {
    auto connection = std::make_unique<Connection>(test::connected(*reactor_));
    Descriptor far = std::move(connection->far);
    connection->near.on_peer_finished([&connection] { connection.reset(); });
    far.reset();
    run_one_turn();
    EXPECT_EQ(connection, nullptr);
}

// Two connections become ready in one turn. Whichever is told first closes the other and adopts a third, which takes
// the closed one's slot. The event that is still under way for the closed one must not reach the third.
TEST_F(SocketWaitTest, an_event_for_a_closed_socket_does_not_reach_the_one_in_its_place) {
    std::array<test::DescriptorPair, 2> pairs{test::connected_descriptors(), test::connected_descriptors()};
    const std::array numbers{pairs[0].near.get(), pairs[1].near.get()};
    const Descriptor listener = test::listen_on_loopback();
    const Descriptor third_far = test::connect_to(test::local_address(listener.get()));
    std::array<Socket, 2> sockets;
    Socket third;
    for (std::size_t index = 0; index < 2; ++index) {
        sockets[index] = Socket::adopt(*reactor_, pairs[index].near.release()).value();
        sockets[index].on_peer_finished([&, index] {
            ASSERT_FALSE(third.is_open()) << "the stale event was delivered";
            sockets[1 - index].close();
            const Descriptor next_free{::fcntl(listener.get(), F_DUPFD_CLOEXEC, numbers[1 - index])};
            EXPECT_NE(next_free.get(), numbers[1 - index]) << "the number is used again within the turn";
            const int fresh = ::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
            third = Socket::adopt(*reactor_, fresh).value();
        });
    }
    run_one_turn();  // takes the events of the registration
    for (test::DescriptorPair& pair : pairs)
        pair.far.reset();
    run_one_turn();
    ASSERT_TRUE(third.is_open());
    EXPECT_FALSE(third.peer_finished());
    const auto outcome = block_on(*reactor_, readable(third, {.deadline = reactor_->now() + 2ms}));
    EXPECT_EQ(outcome.error().code(), base::ErrorCode::timeout);
}

// A peer that has sent more than the read budget, all of it at hand: between Unix sockets nothing is under way.
Connection flooded(Reactor& reactor) {
    std::array<int, 2> ends{};
    test::checked(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
    Connection flood{.near = Socket::adopt(reactor, ends[0]).value(), .far = Descriptor{ends[1]}};
    const int queue_bytes = 4 * static_cast<int>(Socket::read_budget_bytes);  // the kernel allows about 1.6 times
    test::checked(::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &queue_bytes, sizeof queue_bytes), "setsockopt");
    const std::vector<char> block(16 * 1024, 'x');
    std::size_t queued = 0;
    for (ssize_t sent = 0; sent >= 0; sent = ::send(ends[1], block.data(), block.size(), MSG_NOSIGNAL))
        queued += static_cast<std::size_t>(sent);
    if (queued < Socket::read_budget_bytes + 2 * block.size()) throw std::runtime_error{"too little to test anything"};
    return flood;
}

Task<void> gulp(Socket& socket, std::size_t& total, Wait wait) {
    std::vector<char> buffer(16 * 1024);
    for (;;) {
        const auto read = socket.try_read(buffer);
        if (!read || read->end_of_stream) co_return;
        total += read->bytes;
        if (!read->would_block) continue;
        const base::Status more = co_await socket.wait_readable(wait);
        if (!more) co_return;
    }
}

Task<void> sip(Socket& socket, const std::size_t& gulped, std::size_t& gulped_before, Wait wait) {
    const base::Status ready = co_await socket.wait_readable(wait);
    if (ready) gulped_before = gulped;
}

TEST_F(SocketWaitTest, a_flooding_peer_does_not_starve_the_others) {
    Connection flood = flooded(*reactor_);
    Connection calm = test::connected(*reactor_);
    test::send_text(calm.far, "x");
    std::size_t gulped = 0;
    std::size_t gulped_before = 0;
    tasks_.spawn(gulp(flood.near, gulped, soon()));
    tasks_.spawn(sip(calm.near, gulped, gulped_before, soon()));
    const std::size_t before_the_turn = gulped;
    EXPECT_LE(before_the_turn, Socket::read_budget_bytes + 16 * 1024);
    run_one_turn();
    EXPECT_GT(gulped, before_the_turn) << "the flood goes on in the next turn";
    EXPECT_LE(gulped, before_the_turn + Socket::read_budget_bytes + 16 * 1024);
    EXPECT_GT(gulped_before, 0U) << "the calm one is served in that turn";
    flood.far.reset();
    finish();
    EXPECT_GT(gulped, Socket::read_budget_bytes + 16 * 1024) << "the rest comes in later turns";
}

Task<base::Status> either(Socket& socket, Wait wait) { co_return co_await socket.wait_either(wait); }

// Nothing more can be written until the far end reads.
void block_writing(Socket& socket) {
    std::vector<char> block(1024 * 1024, 'x');
    const std::array slices{iovec{.iov_base = block.data(), .iov_len = block.size()}};
    for (int writes = 0; writes < 100; ++writes) {
        const auto written = socket.try_writev(slices);
        if (!written || written->would_block) return;
    }
    FAIL() << "the kernel takes everything";
}

TEST_F(SocketWaitTest, for_either_direction_ends_with_the_one_that_is_ready_or_as_every_wait_does) {
    Connection connection = test::connected(*reactor_);
    EXPECT_TRUE(block_on(*reactor_, either(connection.near, soon())).has_value()) << "writable";
    ASSERT_NO_FATAL_FAILURE(block_writing(connection.near));
    const auto late = block_on(*reactor_, either(connection.near, {.deadline = reactor_->now() + 2ms}));
    ASSERT_FALSE(late.has_value());
    EXPECT_EQ(late.error().code(), base::ErrorCode::timeout);
    EXPECT_FALSE(connection.near.may_be_readable());
    test::send_text(connection.far, "x");
    EXPECT_TRUE(block_on(*reactor_, either(connection.near, soon())).has_value()) << "readable";
    EXPECT_TRUE(connection.near.may_be_readable());
}

TEST_F(SocketWaitTest, for_either_direction_learns_that_its_socket_closed) {
    Connection connection = test::connected(*reactor_);
    ASSERT_NO_FATAL_FAILURE(block_writing(connection.near));
    std::optional<base::Status> outcome;
    tasks_.spawn(store(either(connection.near, soon()), outcome));
    ASSERT_FALSE(outcome.has_value());
    connection.near.close();
    finish();
    EXPECT_EQ(outcome->error().code(), base::ErrorCode::closed);
}

void exhaust_budget(Socket& socket) {
    std::vector<char> buffer(16 * 1024);
    for (int reads = 0; reads < 100; ++reads) {
        const auto read = socket.try_read(buffer);
        if (!read || read->would_block) return;
    }
}

TEST_F(SocketWaitTest, for_either_direction_gives_way_when_the_read_budget_is_used_up) {
    Connection flood = flooded(*reactor_);
    ASSERT_NO_FATAL_FAILURE(block_writing(flood.near));
    run_one_turn();
    exhaust_budget(flood.near);
    ASSERT_TRUE(flood.near.may_be_readable()) << "the kernel was empty before the budget was";
    std::optional<base::Status> outcome;
    tasks_.spawn(store(either(flood.near, soon()), outcome));
    EXPECT_FALSE(outcome.has_value()) << "a caller that tries again at once would turn in a circle";
    run_one_turn();
    ASSERT_TRUE(outcome.has_value());
    EXPECT_TRUE(outcome->has_value());
}

TEST_F(SocketWaitTest, finishing_to_write_is_seen_by_the_peer_which_may_still_send) {
    Connection connection = test::connected(*reactor_);
    connection.near.finish_writing();
    char byte = 0;
    EXPECT_EQ(::recv(connection.far.get(), &byte, 1, 0), 0);
    test::send_text(connection.far, "x");
    EXPECT_TRUE(block_on(*reactor_, readable(connection.near, soon())).has_value());
}

Task<base::Status> exhaust_then_wait(Socket& socket, Wait wait) {
    exhaust_budget(socket);
    co_return co_await socket.wait_readable(wait);
}

TEST_F(SocketWaitTest, a_peer_that_never_pauses_meets_its_deadline) {
    Connection flood = flooded(*reactor_);
    const Wait late{.deadline = reactor_->now() - 1s};
    EXPECT_EQ(block_on(*reactor_, exhaust_then_wait(flood.near, late)).error().code(), base::ErrorCode::timeout);
}

TEST_F(SocketWaitTest, a_reader_that_gives_way_learns_that_its_socket_closed) {
    Connection flood = flooded(*reactor_);
    run_one_turn();
    std::optional<base::Status> outcome;
    tasks_.spawn(store(exhaust_then_wait(flood.near, soon()), outcome));
    ASSERT_FALSE(outcome.has_value());
    flood.near.close();
    finish();
    EXPECT_EQ(outcome->error().code(), base::ErrorCode::closed);
}

}  // namespace
}  // namespace weir::io
