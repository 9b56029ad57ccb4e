#include "io/task_group.h"

#include "io/block_on.h"
#include "io/event.h"
#include "io/test_support.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir::io {
namespace {

using namespace std::chrono_literals;

class TaskGroupTest : public testing::Test {
protected:
    void note(const std::exception_ptr& crash) {
        try {
            std::rethrow_exception(crash);
        } catch (const std::exception& error) {
            crashes_.emplace_back(error.what());
        }
    }
    std::unique_ptr<Reactor> reactor_ = test::make_reactor();
    std::vector<std::string> crashes_;
    TaskGroup tasks_{*reactor_, [this](std::exception_ptr crash) { note(crash); }};
    Event gate_{*reactor_};
};

Task<void> wait_for(Event& gate, std::shared_ptr<int> ended, bool crash) {
    const base::Status waited = co_await gate.wait({});
    ++*ended;
    if (crash || !waited) throw std::runtime_error{"crashed"};
}

TEST_F(TaskGroupTest, counts_running_tasks_and_frees_their_frames) {
    const auto ended = std::make_shared<int>(0);
    for (int index = 0; index < 3; ++index)
        tasks_.spawn(wait_for(gate_, ended, false));
    EXPECT_EQ(tasks_.size(), 3U);
    gate_.set();
    EXPECT_TRUE(block_on(*reactor_, tasks_.wait_empty({})).has_value());
    EXPECT_EQ(tasks_.size(), 0U);
    EXPECT_EQ(*ended, 3);
    EXPECT_EQ(ended.use_count(), 1);
}

TEST_F(TaskGroupTest, starts_a_task_at_once_and_it_may_end_at_once) {
    const auto ended = std::make_shared<int>(0);
    gate_.set();
    tasks_.spawn(wait_for(gate_, ended, false));
    EXPECT_EQ(*ended, 1);
    EXPECT_EQ(tasks_.size(), 0U);
}

TEST_F(TaskGroupTest, reports_an_exception_whether_the_task_had_suspended_or_not) {
    const auto ended = std::make_shared<int>(0);
    tasks_.spawn(wait_for(gate_, ended, true));
    gate_.set();
    tasks_.spawn(wait_for(gate_, ended, true));
    EXPECT_EQ(crashes_.size(), 1U);
    EXPECT_TRUE(block_on(*reactor_, tasks_.wait_empty({})).has_value());
    EXPECT_EQ(crashes_, (std::vector<std::string>{"crashed", "crashed"}));
}

TEST_F(TaskGroupTest, waiting_for_the_end_has_a_deadline_and_can_be_cancelled) {
    const auto ended = std::make_shared<int>(0);
    tasks_.spawn(wait_for(gate_, ended, false));
    const auto late = block_on(*reactor_, tasks_.wait_empty({.deadline = reactor_->now() + 2ms}));
    EXPECT_EQ(late.error().code(), base::ErrorCode::timeout);
    Cancel cancel;
    cancel.fire();
    const auto cancelled = block_on(*reactor_, tasks_.wait_empty({.cancel = &cancel}));
    EXPECT_EQ(cancelled.error().code(), base::ErrorCode::cancelled);
    gate_.set();
    EXPECT_TRUE(block_on(*reactor_, tasks_.wait_empty({})).has_value());
}

Task<void> spawn_another(TaskGroup& tasks, Event& gate, std::shared_ptr<int> ended) {
    const base::Status waited = co_await gate.wait({});
    gate.reset();
    if (waited) tasks.spawn(wait_for(gate, ended, false));
}

TEST_F(TaskGroupTest, is_not_empty_while_a_task_that_was_spawned_last_still_runs) {
    const auto ended = std::make_shared<int>(0);
    tasks_.spawn(spawn_another(tasks_, gate_, ended));
    gate_.set();
    const auto late = block_on(*reactor_, tasks_.wait_empty({.deadline = reactor_->now() + 5ms}));
    EXPECT_EQ(late.error().code(), base::ErrorCode::timeout);
    EXPECT_EQ(tasks_.size(), 1U);
    gate_.set();
    EXPECT_TRUE(block_on(*reactor_, tasks_.wait_empty({})).has_value());
}

// The group is empty for a moment, but no longer when the one who waits for that is resumed.
TEST_F(TaskGroupTest, waits_on_when_a_task_was_spawned_before_the_waiter_could_see_it_empty) {
    const auto ended = std::make_shared<int>(0);
    TaskGroup others{*reactor_, [this](std::exception_ptr crash) { note(crash); }};
    tasks_.spawn(wait_for(gate_, ended, false));
    others.spawn(spawn_another(tasks_, gate_, ended));
    gate_.set();
    const auto late = block_on(*reactor_, tasks_.wait_empty({.deadline = reactor_->now() + 5ms}));
    ASSERT_FALSE(late.has_value());
    EXPECT_EQ(late.error().code(), base::ErrorCode::timeout);
    EXPECT_EQ(tasks_.size(), 1U);
    gate_.set();
    EXPECT_TRUE(block_on(*reactor_, tasks_.wait_empty({})).has_value());
}

}  // namespace
}  // namespace weir::io
