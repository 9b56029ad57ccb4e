// Preloaded into a gateway by clock.test.mjs: its wall clock is the machine's plus as many seconds as stand in the file
// WEIR_CLOCK_STEP (eight bytes, as the machine writes them). No other clock is touched. No symbol is looked up, so that
// it works under sanitizers too, whose allocators ask for the time before anything is ready.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

const volatile std::int64_t* step_s = nullptr;

[[gnu::constructor]] void map_step() {
    const char* path = std::getenv("WEIR_CLOCK_STEP");
    if (path == nullptr) return;
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    void* mapped = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    if (mapped != MAP_FAILED) step_s = static_cast<const volatile std::int64_t*>(mapped);
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
    const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
    if (result == 0 && clock == CLOCK_REALTIME && step_s != nullptr) now->tv_sec += *step_s;
    return result;
}
