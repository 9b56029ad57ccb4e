#include "io/task.h"

#include "io/block_on.h"
#include "io/frame_pool.h"
#include "io/test_support.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace weir::io {
namespace {

class TaskTest : public testing::Test {
protected:
    std::unique_ptr<Reactor> reactor_ = test::make_reactor();
};

struct NoDefault {
    explicit NoDefault(int number) : value{std::make_unique<int>(number)} {}
    std::unique_ptr<int> value;  // move-only
};

Task<NoDefault> make_no_default(int number) { co_return NoDefault{number}; }

Task<int> plus_one(int number) { co_return number + 1; }

Task<int> throws(std::string message) {
    if (!message.empty()) throw std::runtime_error{message};
    co_return 0;
}

Task<void> note(bool& ran) {
    ran = true;
    co_return;
}

Task<void> keep(std::shared_ptr<int> value) {
    *value += 1;
    co_return;
}

TEST_F(TaskTest, ATaskThatHasEndedGivesItsValueWithoutAFrame) {
    auto task = Task<NoDefault>::ended(NoDefault{7});
    ASSERT_NE(task.ended_with(), nullptr);
    EXPECT_EQ(*task.ended_with()->value, 7);
    auto moved = std::move(task);
    EXPECT_EQ(task.ended_with(), nullptr) << "the value went with it";
    EXPECT_EQ(*block_on(*reactor_, std::move(moved)).value, 7);
    block_on(*reactor_, Task<void>::ended());
    EXPECT_EQ(plus_one(1).ended_with(), nullptr) << "a coroutine has not begun";
}

TEST_F(TaskTest, carries_a_move_only_value_without_a_default_constructor) {
    EXPECT_EQ(*block_on(*reactor_, make_no_default(7)).value, 7);
}

TEST_F(TaskTest, runs_only_when_it_is_awaited) {
    bool ran = false;
    auto task = note(ran);
    EXPECT_FALSE(ran);
    block_on(*reactor_, std::move(task));
    EXPECT_TRUE(ran);
}

TEST_F(TaskTest, that_is_never_awaited_frees_its_parameters) {
    const auto value = std::make_shared<int>(0);
    {
        const auto task = keep(value);
        EXPECT_EQ(value.use_count(), 2);
    }
    EXPECT_EQ(value.use_count(), 1);
    EXPECT_EQ(*value, 0);
}

TEST_F(TaskTest, assigning_over_a_task_frees_the_old_one) {
    const auto first = std::make_shared<int>(0);
    const auto second = std::make_shared<int>(0);
    auto task = keep(first);
    task = keep(second);
    EXPECT_EQ(first.use_count(), 1);
    block_on(*reactor_, std::move(task));
    EXPECT_EQ(*second, 1);
}

Task<std::string> catches(std::string message) {
    try {
        static_cast<void>(co_await throws(message));
    } catch (const std::runtime_error& error) {
        co_return std::string{"caught "} + error.what();
    }
    co_return "nothing";
}

TEST_F(TaskTest, an_exception_crosses_co_await) {
    EXPECT_EQ(block_on(*reactor_, catches("it")), "caught it");
    EXPECT_THROW(block_on(*reactor_, throws("out")), std::runtime_error);
}

Task<int> await_many(int count) {
    int sum = 0;
    for (int index = 0; index < count; ++index) {
        const int next = co_await plus_one(sum);
        sum = next;
    }
    co_return sum;
}

Task<int> nested(int depth) {
    if (depth == 0) co_return 0;
    const int below = co_await nested(depth - 1);
    co_return below + 1;
}

TEST_F(TaskTest, a_million_awaits_of_ready_tasks_do_not_grow_the_stack) {
    EXPECT_EQ(block_on(*reactor_, await_many(1'000'000)), 1'000'000);
}

TEST_F(TaskTest, a_deep_chain_of_tasks_does_not_grow_the_stack) {
    EXPECT_EQ(block_on(*reactor_, nested(200'000)), 200'000);
}

TEST(FramePool, gives_blocks_of_any_size_that_do_not_overlap) {
    for (const std::size_t bytes : {1UZ, 63UZ, 64UZ, 65UZ, 4096UZ, 4097UZ, 100'000UZ}) {
        void* const first = allocate_frame(bytes);
        void* const second = allocate_frame(bytes);
        std::memset(first, 1, bytes);
        std::memset(second, 2, bytes);
        EXPECT_EQ(static_cast<char*>(first)[bytes - 1], 1);
        free_frame(first, bytes);
        free_frame(second, bytes);
    }
}

TEST(FramePool, a_frame_may_be_freed_on_another_thread_and_outlives_its_own) {
    void* frame = nullptr;
    std::thread{[&frame] { frame = allocate_frame(200); }}.join();
    std::thread{[frame] { free_frame(frame, 200); }}.join();  // leak checkers see whether that thread cleans up
}

#if !__has_feature(address_sanitizer)
TEST(FramePool, recycles_the_frame_that_was_freed_last) {
    void* const frame = allocate_frame(130);
    free_frame(frame, 130);
    void* const other = ::operator new(130);  // which malloc, had it got the frame back, would make of it
    EXPECT_NE(other, frame);
    void* const again = allocate_frame(136);  // of the same class
    EXPECT_EQ(again, frame);
    free_frame(again, 136);
    ::operator delete(other);
}
#endif

}  // namespace
}  // namespace weir::io
