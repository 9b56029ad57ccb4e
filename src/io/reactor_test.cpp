#include "io/reactor.h"

#include "io/block_on.h"
#include "io/event.h"
#include "io/reactor_impl.h"
#include "io/task_group.h"
#include "io/test_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace weir::io {
namespace {

using namespace std::chrono_literals;

class ReactorTest : public testing::Test {
protected:
    std::unique_ptr<Reactor> reactor_ = test::make_reactor();
    TaskGroup tasks_{*reactor_, [](std::exception_ptr) { ADD_FAILURE() << "a task crashed"; }};
};

Task<base::Status> sleep_for(Reactor& reactor, base::Nanoseconds span, Cancel* cancel = nullptr) {
    const Wait wait{.deadline = reactor.now() + span, .cancel = cancel};
    co_return co_await reactor.sleep(wait);
}

Task<void> record_sleep(Reactor& reactor, base::Nanoseconds span, Cancel* cancel,
                        std::vector<base::ErrorCode>& failures) {
    const base::Status slept = co_await sleep_for(reactor, span, cancel);
    if (!slept) failures.push_back(slept.error().code());
}

TEST_F(ReactorTest, stop_before_run_lets_run_return_at_once) {
    reactor_->stop();
    reactor_->run();
    reactor_->post([this] { reactor_->stop(); });
    reactor_->run();
}

TEST_F(ReactorTest, now_stands_still_during_a_turn_and_is_the_clock_outside) {
    reactor_->post([this] {
        const base::Instant before = reactor_->now();
        while (base::monotonic_now() <= before + 1ms) {}
        EXPECT_EQ(reactor_->now(), before);
        reactor_->stop();
    });
    const base::Instant outside = reactor_->now();
    reactor_->run();
    EXPECT_GE(reactor_->now(), outside + 1ms);
}

Task<void> check_sleep(Reactor& reactor, base::Nanoseconds span, int& early) {
    const base::Instant deadline = reactor.now() + span;
    const base::Status slept = co_await reactor.sleep({.deadline = deadline});
    if (!slept || base::monotonic_now() < deadline) ++early;
}

TEST_F(ReactorTest, sleeps_never_end_early) {
    std::mt19937 random{7};
    std::uniform_int_distribution<std::int64_t> microseconds{0, 60'000};
    int early = 0;
    for (int index = 0; index < 500; ++index) {
        tasks_.spawn(check_sleep(*reactor_, std::chrono::microseconds{microseconds(random)}, early));
    }
    EXPECT_TRUE(block_on(*reactor_, tasks_.wait_empty({})).has_value());
    EXPECT_EQ(early, 0);
}

TEST_F(ReactorTest, does_not_spin_while_it_waits_for_a_timer) {
    const std::uint64_t before = reactor_->impl().turn();
    EXPECT_TRUE(block_on(*reactor_, sleep_for(*reactor_, 20ms)).has_value());
    EXPECT_LE(reactor_->impl().turn() - before, 6U);
}

TEST_F(ReactorTest, a_cancelled_sleep_is_resumed_from_the_loop_and_not_inside_fire) {
    Cancel cancel;
    std::vector<base::ErrorCode> failures;
    for (int index = 0; index < 3; ++index)
        tasks_.spawn(record_sleep(*reactor_, 1h, &cancel, failures));
    cancel.fire();
    EXPECT_TRUE(failures.empty());
    EXPECT_EQ(tasks_.size(), 3U);
    EXPECT_TRUE(block_on(*reactor_, tasks_.wait_empty({})).has_value());
    EXPECT_EQ(failures, std::vector(3, base::ErrorCode::cancelled));
}

TEST_F(ReactorTest, a_cancel_that_fired_before_ends_the_sleep_at_once) {
    Cancel cancel;
    cancel.fire();
    cancel.fire();
    std::vector<base::ErrorCode> failures;
    tasks_.spawn(record_sleep(*reactor_, 1h, &cancel, failures));
    EXPECT_EQ(tasks_.size(), 0U);
    EXPECT_EQ(failures, std::vector{base::ErrorCode::cancelled});
}

TEST_F(ReactorTest, a_cancel_that_dies_ends_the_waits_that_name_it) {
    std::vector<base::ErrorCode> failures;
    {
        Cancel cancel;
        tasks_.spawn(record_sleep(*reactor_, 1h, &cancel, failures));
    }
    EXPECT_TRUE(block_on(*reactor_, tasks_.wait_empty({})).has_value());
    EXPECT_EQ(failures, std::vector{base::ErrorCode::cancelled});
}

TEST_F(ReactorTest, a_sleep_that_is_over_does_not_suspend) {
    const base::Status slept = block_on(*reactor_, sleep_for(*reactor_, 0ns));
    EXPECT_TRUE(slept.has_value());
}

struct Posters {
    static constexpr int posts = 5000;
    Reactor& reactor;
    std::vector<std::vector<int>> seen;
    std::size_t total = 0;

    void note(std::size_t thread, int index) {
        seen[thread].push_back(index);
        if (++total == seen.size() * posts) reactor.stop();
    }
    void post_all(std::size_t thread) {
        for (int index = 0; index < posts; ++index)
            reactor.post([this, thread, index] { note(thread, index); });
    }
};

TEST_F(ReactorTest, work_from_many_threads_all_runs_in_each_threads_order) {
    Posters posters{.reactor = *reactor_, .seen = std::vector<std::vector<int>>(4)};
    {
        std::vector<std::jthread> threads(posters.seen.size());
        for (std::size_t id = 0; id < threads.size(); ++id)
            threads[id] = std::jthread{[&posters, id] { posters.post_all(id); }};
        reactor_->run();
    }
    for (const auto& order : posters.seen)
        EXPECT_TRUE(std::ranges::is_sorted(order));
    EXPECT_EQ(posters.total, posters.seen.size() * Posters::posts);
}

TEST_F(ReactorTest, work_that_posts_work_does_not_keep_the_turn_from_ending) {
    int posted = 0;
    const auto repost = [this, &posted](auto& self) -> void {
        if (++posted < 1'000'000) reactor_->post([&self] { self(self); });
    };
    reactor_->post([&repost] { repost(repost); });
    EXPECT_TRUE(block_on(*reactor_, sleep_for(*reactor_, 5ms)).has_value());
    EXPECT_LT(posted, 1'000'000);
}

TEST_F(ReactorTest, what_was_posted_and_never_ran_is_freed_with_the_reactor) {
    const auto value = std::make_shared<int>(0);
    {
        const auto reactor = test::make_reactor();
        reactor->post([value] { ++*value; });
        EXPECT_EQ(value.use_count(), 2);
    }
    EXPECT_EQ(value.use_count(), 1);
    EXPECT_EQ(*value, 0);
}

Task<void> ping(Event& mine, Event& other, const bool& stop) {
    while (!stop) {
        const base::Status called = co_await mine.wait({});
        if (!called) co_return;
        mine.reset();
        other.set();
    }
}

Task<base::Status> sleep_then_stop(Reactor& reactor, bool& stop) {
    base::Status slept = co_await sleep_for(reactor, 5ms);
    stop = true;
    co_return slept;
}

TEST_F(ReactorTest, coroutines_that_wake_each_other_for_ever_do_not_starve_the_loop) {
    Event left{*reactor_};
    Event right{*reactor_};
    bool stop = false;
    tasks_.spawn(ping(left, right, stop));
    tasks_.spawn(ping(right, left, stop));
    left.set();
    EXPECT_TRUE(block_on(*reactor_, sleep_then_stop(*reactor_, stop)).has_value());
    left.set();
    right.set();
    EXPECT_TRUE(block_on(*reactor_, tasks_.wait_empty({})).has_value());
}

TEST_F(ReactorTest, measures_how_long_a_turn_works) {
    for (int turn = 0; turn < 40; ++turn) {
        reactor_->post([this] {
            const base::Instant until = base::monotonic_now() + 200us;
            while (base::monotonic_now() < until) {}
            reactor_->stop();
        });
        reactor_->run();
    }
    EXPECT_GE(reactor_->last_turn(), 200us);
}

}  // namespace
}  // namespace weir::io
