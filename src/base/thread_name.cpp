#include "base/thread_name.h"

#include <pthread.h>

namespace weir::base {
namespace {

constexpr std::size_t longest_name = 15;

}  // namespace

void name_this_thread(std::string name) noexcept {
    if (name.size() > longest_name) name.resize(longest_name);
    pthread_setname_np(pthread_self(), name.c_str());
}

}  // namespace weir::base
