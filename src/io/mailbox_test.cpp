#include "io/mailbox.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <vector>

namespace weir::io {
namespace {

class MailboxTest : public testing::Test {
protected:
    // How often the owner was woken since the last look.
    [[nodiscard]] std::uint64_t wakes() const {
        eventfd_t count = 0;
        return ::eventfd_read(mailbox_.descriptor(), &count) == 0 ? count : 0;
    }
    Mailbox mailbox_{Descriptor{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)}};
};

TEST_F(MailboxTest, runs_work_in_the_order_of_posting) {
    std::vector<int> order;
    for (int index = 0; index < 3; ++index)
        mailbox_.post([&order, index] { order.push_back(index); });
    mailbox_.run_all();
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
}

TEST_F(MailboxTest, wakes_the_owner_once_for_a_burst) {
    for (int index = 0; index < 100; ++index)
        mailbox_.post([] {});
    EXPECT_EQ(wakes(), 1U);
    mailbox_.run_all();
    mailbox_.post([] {});
    EXPECT_EQ(wakes(), 1U);
}

TEST_F(MailboxTest, work_posted_by_work_wakes_the_owner_again) {
    int runs = 0;
    mailbox_.post([this, &runs] {
        ++runs;
        mailbox_.post([&runs] { ++runs; });
    });
    EXPECT_EQ(wakes(), 1U);
    mailbox_.run_all();
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(wakes(), 1U);
    mailbox_.run_all();
    EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace weir::io
