#include "io/block_on.h"
#include "io/listener.h"
#include "io/test_support.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace weir::io {
namespace {

using namespace std::chrono_literals;

Task<base::Status> sleep_for(Reactor& reactor, base::Nanoseconds span) {
    const Wait wait{.deadline = reactor.now() + span};
    co_return co_await reactor.sleep(wait);
}

class AcceptorTest : public testing::Test {
protected:
    void listen() {
        set_.emplace(ListenerSet::open(test::loopback(), 1).value());
        acceptor_.emplace(*reactor_, set_->take(0), [this](int descriptor) { accepted_.emplace_back(descriptor); });
    }
    void connect_clients(std::size_t count) {
        for (std::size_t index = 0; index < count; ++index)
            clients_.push_back(test::connect_to(set_->address()));
    }
    void run_one_turn() {
        reactor_->post([this] { reactor_->stop(); });
        reactor_->run();
    }
    void run_for(base::Nanoseconds span) { static_cast<void>(block_on(*reactor_, sleep_for(*reactor_, span))); }
    // UBSan needs descriptors when it meets a type for the first time: shows it what the tests without any will use.
    void show_types() {
        connect_clients(1);
        run_one_turn();
        run_for(1ms);
        ASSERT_EQ(accepted_.size(), 1U);
        accepted_.clear();
        clients_.clear();
    }

    std::unique_ptr<Reactor> reactor_ = test::make_reactor();
    std::optional<ListenerSet> set_;
    std::optional<Acceptor> acceptor_;
    std::vector<Descriptor> accepted_;
    std::vector<Descriptor> clients_;
};

// While it lives, no further descriptor can be opened.
class NoMoreDescriptors {
public:
    NoMoreDescriptors() {
        const Descriptor next{test::checked(::dup(0), "dup")};
        test::checked(::getrlimit(RLIMIT_NOFILE, &before_), "getrlimit");
        const rlimit limit{.rlim_cur = static_cast<rlim_t>(next.get()), .rlim_max = before_.rlim_max};
        test::checked(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
    }
    NoMoreDescriptors(const NoMoreDescriptors&) = delete;
    NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;
    ~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

TEST_F(AcceptorTest, hands_out_descriptors_that_do_not_block_and_are_not_inherited) {
    listen();
    connect_clients(1);
    run_one_turn();
    ASSERT_EQ(accepted_.size(), 1U);
    EXPECT_NE(::fcntl(accepted_[0].get(), F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(::fcntl(accepted_[0].get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(AcceptorTest, takes_a_capped_number_each_turn_and_the_rest_in_the_next) {
    listen();
    connect_clients(Acceptor::accepts_per_turn + 10);
    run_one_turn();
    EXPECT_EQ(accepted_.size(), Acceptor::accepts_per_turn);
    run_one_turn();
    EXPECT_EQ(accepted_.size(), Acceptor::accepts_per_turn + 10);
}

TEST_F(AcceptorTest, pauses_while_there_are_no_descriptors_and_goes_on_by_itself) {
    listen();
    show_types();
    connect_clients(1);
    {
        const NoMoreDescriptors none;
        run_one_turn();
        EXPECT_EQ(acceptor_->paused_total(), 1U);
        EXPECT_TRUE(accepted_.empty());
    }
    run_for(120ms);
    EXPECT_EQ(accepted_.size(), 1U);
    EXPECT_EQ(acceptor_->paused_total(), 1U);
    connect_clients(1);
    const NoMoreDescriptors none;
    run_for(50ms);
    EXPECT_EQ(acceptor_->paused_total(), 2U) << "it spins";
}

TEST_F(AcceptorTest, drains_what_is_queued_before_it_closes) {
    listen();
    connect_clients(Acceptor::accepts_per_turn + 10);  // no turn has run: all are queued in the kernel
    acceptor_->drain_and_close();
    EXPECT_EQ(accepted_.size(), clients_.size());
    acceptor_->drain_and_close();
    const Descriptor late{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    EXPECT_EQ(::connect(late.get(), set_->address().raw(), set_->address().length), -1);
    EXPECT_EQ(errno, ECONNREFUSED);
    run_one_turn();
}

TEST_F(AcceptorTest, can_be_drained_from_its_own_callback) {
    set_.emplace(ListenerSet::open(test::loopback(), 1).value());
    acceptor_.emplace(*reactor_, set_->take(0), [this](int descriptor) {
        accepted_.emplace_back(descriptor);
        acceptor_->drain_and_close();
    });
    connect_clients(5);
    run_one_turn();
    EXPECT_EQ(accepted_.size(), 5U);
}

TEST_F(AcceptorTest, drains_without_descriptors_by_closing) {
    listen();
    show_types();
    connect_clients(1);
    const NoMoreDescriptors none;
    acceptor_->drain_and_close();
    EXPECT_TRUE(accepted_.empty());
    char byte = 0;
    EXPECT_LE(::recv(clients_[0].get(), &byte, 1, 0), 0);  // reset by the kernel, not left hanging
}

TEST_F(AcceptorTest, that_was_closed_while_it_paused_stays_closed) {
    listen();
    show_types();
    connect_clients(1);
    {
        const NoMoreDescriptors none;
        run_one_turn();
    }
    acceptor_->drain_and_close();
    EXPECT_EQ(accepted_.size(), 1U);
    run_for(120ms);
    EXPECT_EQ(acceptor_->paused_total(), 1U);
}

TEST_F(AcceptorTest, ends_while_it_is_paused) {
    listen();
    show_types();
    connect_clients(1);
    {
        const NoMoreDescriptors none;
        run_for(1ms);
    }
    EXPECT_EQ(acceptor_->paused_total(), 1U);
    acceptor_.reset();
    run_for(1ms);
}

TEST_F(AcceptorTest, the_listeners_of_a_set_share_the_connections) {
    auto set = ListenerSet::open(test::loopback(), 2);
    int first_count = 0;
    int second_count = 0;
    const auto count_into = [](int& count) {
        return [&count](int descriptor) {
            const Descriptor closing{descriptor};
            ++count;
        };
    };
    Acceptor first{*reactor_, set->take(0), count_into(first_count)};
    Acceptor second{*reactor_, set->take(1), count_into(second_count)};
    for (int index = 0; index < 60; ++index)
        clients_.push_back(test::connect_to(set->address()));
    run_one_turn();
    run_one_turn();
    EXPECT_EQ(first_count + second_count, 60);
    EXPECT_GT(first_count, 0);
    EXPECT_GT(second_count, 0);
}

}  // namespace
}  // namespace weir::io
