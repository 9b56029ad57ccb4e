#include "io/event.h"

#include "io/block_on.h"
#include "io/task_group.h"
#include "io/test_support.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace weir::io {
namespace {

using namespace std::chrono_literals;

class EventTest : public testing::Test {
protected:
    void finish() { ASSERT_TRUE(block_on(*reactor_, tasks_.wait_empty({})).has_value()); }

    std::unique_ptr<Reactor> reactor_ = test::make_reactor();
    TaskGroup tasks_{*reactor_, [](std::exception_ptr) { ADD_FAILURE() << "a task crashed"; }};
    std::optional<Event> event_{std::in_place, *reactor_};
    std::vector<base::Status> outcomes_;
};

Task<void> record(Event& event, Wait wait, std::vector<base::Status>& outcomes) {
    base::Status waited = co_await event.wait(wait);
    outcomes.push_back(std::move(waited));
}

TEST_F(EventTest, does_not_suspend_when_it_is_set) {
    event_->set();
    tasks_.spawn(record(*event_, {}, outcomes_));
    ASSERT_EQ(outcomes_.size(), 1U);
    EXPECT_TRUE(outcomes_.front().has_value());
}

TEST_F(EventTest, wakes_all_waiters_from_the_loop_even_if_it_is_reset_meanwhile) {
    for (int index = 0; index < 3; ++index)
        tasks_.spawn(record(*event_, {}, outcomes_));
    event_->set();
    event_->reset();
    EXPECT_TRUE(outcomes_.empty());
    finish();
    ASSERT_EQ(outcomes_.size(), 3U);
    for (const base::Status& outcome : outcomes_)
        EXPECT_TRUE(outcome.has_value());
}

TEST_F(EventTest, a_wait_ends_at_its_deadline) {
    tasks_.spawn(record(*event_, {.deadline = reactor_->now() + 2ms}, outcomes_));
    tasks_.spawn(record(*event_, {.deadline = reactor_->now() - 1s}, outcomes_));
    finish();
    ASSERT_EQ(outcomes_.size(), 2U);
    for (const base::Status& outcome : outcomes_)
        EXPECT_EQ(outcome.error().code(), base::ErrorCode::timeout);
}

TEST_F(EventTest, a_wait_ends_when_it_is_cancelled) {
    Cancel cancel;
    tasks_.spawn(record(*event_, {.deadline = reactor_->now() + 1h, .cancel = &cancel}, outcomes_));
    cancel.fire();
    event_->set();  // too late: the first outcome counts
    finish();
    ASSERT_EQ(outcomes_.size(), 1U);
    EXPECT_EQ(outcomes_.front().error().code(), base::ErrorCode::cancelled);
}

TEST_F(EventTest, waiters_end_when_the_event_dies) {
    tasks_.spawn(record(*event_, {.deadline = reactor_->now() + 1h}, outcomes_));
    event_.reset();
    finish();
    ASSERT_EQ(outcomes_.size(), 1U);
    EXPECT_EQ(outcomes_.front().error().code(), base::ErrorCode::closed);
}

}  // namespace
}  // namespace weir::io
