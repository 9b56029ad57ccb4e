#include "io/timer_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace weir::io {
namespace {

using namespace std::chrono_literals;

constexpr base::Instant start{std::chrono::hours{1000}};

struct Probe final : Timer {
    int fired = 0;
    void expired() noexcept override { ++fired; }
};

struct DelayCase {
    const char* name;
    base::Nanoseconds delay;
};

class TimerWheelDelay : public testing::TestWithParam<DelayCase> {};

// Steps as the reactor does: from one wake-up to the next.
TEST_P(TimerWheelDelay, fires_within_a_tick_and_never_early) {
    TimerWheel wheel{start};
    Probe timer;
    const base::Instant deadline = start + GetParam().delay;
    wheel.arm(timer, deadline);
    int wakes = 0;
    base::Instant now = start;
    while (timer.fired == 0) {
        ASSERT_LT(++wakes, 20);
        const auto wake = wheel.next_wake();
        ASSERT_TRUE(wake.has_value());
        wheel.advance(*wake - 1ns);
        ASSERT_EQ(timer.fired, 0);
        now = *wake;
        wheel.advance(now);
    }
    EXPECT_GE(now, deadline);
    EXPECT_LE(now, std::max(deadline, start) + TimerWheel::tick);
    EXPECT_EQ(timer.fired, 1);
    EXPECT_FALSE(wheel.next_wake().has_value());
}

INSTANTIATE_TEST_SUITE_P(Delays, TimerWheelDelay,
                         testing::Values(DelayCase{"now", 0ns}, DelayCase{"past", -5s}, DelayCase{"nanosecond", 1ns},
                                         DelayCase{"tick", TimerWheel::tick},
                                         DelayCase{"slots_of_a_level", 64 * TimerWheel::tick}, DelayCase{"second", 1s},
                                         DelayCase{"hour", 1h}, DelayCase{"year", 8766h},
                                         DelayCase{"century", 876'600h}),
                         [](const auto& info) { return std::string{info.param.name}; });

TEST(TimerWheel, never_means_no_timer) {
    TimerWheel wheel{start};
    Probe timer;
    wheel.arm(timer, base::never);
    EXPECT_FALSE(timer.armed());
    EXPECT_FALSE(wheel.next_wake().has_value());
}

TEST(TimerWheel, a_later_deadline_does_not_move_the_timer_until_its_slot_is_due) {
    TimerWheel wheel{start};
    Probe timer;
    wheel.arm(timer, start + 1s);
    const auto first_wake = wheel.next_wake();
    for (int event = 1; event <= 1000; ++event)
        wheel.arm(timer, start + 1s + event * 1ms);
    EXPECT_EQ(wheel.next_wake(), first_wake);
    wheel.advance(start + 1900ms);
    EXPECT_EQ(timer.fired, 0);
    wheel.advance(start + 2001ms + TimerWheel::tick);
    EXPECT_EQ(timer.fired, 1);
}

TEST(TimerWheel, an_earlier_deadline_moves_the_timer) {
    TimerWheel wheel{start};
    Probe timer;
    wheel.arm(timer, start + 10s);
    wheel.arm(timer, start + 1s);
    wheel.advance(start + 2s);
    EXPECT_EQ(timer.fired, 1);
    wheel.advance(start + 20s);
    EXPECT_EQ(timer.fired, 1);
}

TEST(TimerWheel, a_timer_before_the_one_that_was_next_is_next) {
    TimerWheel wheel{start};
    Probe later, sooner;
    wheel.arm(later, start + 10s);
    ASSERT_GT(wheel.next_wake(), start + 1s + TimerWheel::tick);
    wheel.arm(sooner, start + 1s);
    EXPECT_LE(wheel.next_wake(), start + 1s + TimerWheel::tick);
    wheel.advance(start + 1s + TimerWheel::tick);
    EXPECT_EQ(sooner.fired, 1);
}

TEST(TimerWheel, a_disarmed_timer_does_not_fire_but_can_be_armed_again) {
    TimerWheel wheel{start};
    Probe timer;
    wheel.arm(timer, start + 1s);
    wheel.disarm(timer);
    wheel.advance(start + 2s);
    EXPECT_EQ(timer.fired, 0);
    EXPECT_FALSE(wheel.next_wake().has_value());
    wheel.arm(timer, start + 3s);
    wheel.advance(start + 4s);
    EXPECT_EQ(timer.fired, 1);
}

TEST(TimerWheel, nobody_wakes_up_for_a_timer_that_died) {
    TimerWheel wheel{start};
    {
        Probe timer;
        wheel.arm(timer, start + 1s);
    }
    EXPECT_FALSE(wheel.next_wake().has_value());
}

struct Repeating final : Timer {
    explicit Repeating(TimerWheel& owner) : wheel{owner} {}
    void expired() noexcept override {
        ++fired;
        wheel.arm(*this, start);  // in the past: the next tick
    }
    TimerWheel& wheel;
    int fired = 0;
};

TEST(TimerWheel, a_timer_that_arms_itself_in_the_past_fires_once_a_tick) {
    TimerWheel wheel{start};
    Repeating timer{wheel};
    wheel.arm(timer, start);
    wheel.advance(start + 10 * TimerWheel::tick);
    EXPECT_GE(timer.fired, 9);
    EXPECT_LE(timer.fired, 10);
}

struct Killer final : Timer {
    std::unique_ptr<Probe> victim;
    void expired() noexcept override { victim.reset(); }
};

TEST(TimerWheel, a_firing_timer_may_destroy_another_of_the_same_slot) {
    TimerWheel wheel{start};
    Killer killer;
    killer.victim = std::make_unique<Probe>();
    wheel.arm(killer, start + 1s);
    wheel.arm(*killer.victim, start + 1s);
    wheel.advance(start + 2s);
    EXPECT_EQ(killer.victim, nullptr);
}

// The model: each timer knows its deadline, and checks the time when it fires.
struct Checked final : Timer {
    const base::Instant* now = nullptr;
    std::optional<base::Instant> deadline;
    int early = 0;
    int unexpected = 0;
    void expired() noexcept override {
        if (!deadline)
            ++unexpected;
        else if (*now < *deadline)
            ++early;
        deadline.reset();
    }
};

struct Model {
    static constexpr std::uint32_t seed = 20261130;
    static constexpr std::size_t timer_count = 100'000;
    TimerWheel wheel{start};
    base::Instant now = start;
    std::mt19937 random{seed};
    std::vector<Checked> timers{timer_count};

    base::Nanoseconds some_delay() {
        const auto magnitude = std::uniform_int_distribution<int>{10, 38}(random);  // 1 µs .. 4.5 min
        return base::Nanoseconds{std::uniform_int_distribution<std::int64_t>{0, std::int64_t{1} << magnitude}(random)};
    }
    void change_some() {
        for (int change = 0; change < 500; ++change) {
            Checked& timer = timers[std::uniform_int_distribution<std::size_t>{0, timer_count - 1}(random)];
            if (change % 4 == 0) {
                timer.deadline.reset();
                wheel.disarm(timer);
            } else {
                timer.deadline = now + some_delay();
                wheel.arm(timer, *timer.deadline);
            }
        }
    }
};

TEST(TimerWheel, keeps_the_deadlines_of_100_000_timers_like_the_model) {
    Model model;
    RecordProperty("seed", static_cast<int>(Model::seed));
    for (Checked& timer : model.timers) {
        timer.now = &model.now;
        timer.deadline = model.now + model.some_delay();
        model.wheel.arm(timer, *timer.deadline);
    }
    for (int step = 0; step < 300; ++step) {
        model.now += model.some_delay() / 16;
        model.wheel.advance(model.now);
        model.change_some();
    }
    const auto overdue = std::ranges::count_if(model.timers, [&model](const Checked& timer) {
        return timer.deadline && *timer.deadline + 2 * TimerWheel::tick < model.now;
    });
    EXPECT_EQ(overdue, 0);
    model.now += 1h;
    model.wheel.advance(model.now);
    for (const Checked& timer : model.timers) {
        ASSERT_EQ(timer.early, 0);
        ASSERT_EQ(timer.unexpected, 0);
        ASSERT_FALSE(timer.deadline.has_value());
    }
    EXPECT_FALSE(model.wheel.next_wake().has_value());
}

}  // namespace
}  // namespace weir::io
