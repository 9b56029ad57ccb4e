#include "base/thread_name.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <string>
#include <thread>

namespace weir::base {
namespace {

std::string name_in_thread(const std::string& wanted) {
    std::string seen;
    std::jthread thread{[&] {
        name_this_thread(wanted);
        std::array<char, 64> buffer{};
        pthread_getname_np(pthread_self(), buffer.data(), buffer.size());
        seen = buffer.data();
    }};
    thread.join();
    return seen;
}

TEST(thread_name, is_what_the_kernel_shows) { EXPECT_EQ(name_in_thread("weir-data-0"), "weir-data-0"); }

TEST(thread_name, is_cut_rather_than_refused) { EXPECT_EQ(name_in_thread("weir-data-1234567890"), "weir-data-12345"); }

}  // namespace
}  // namespace weir::base
