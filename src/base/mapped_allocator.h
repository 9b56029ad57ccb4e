// MappedAllocator: large blocks come from the system and go back to it at once. From the heap, tables that are
// replaced would leave tens of megabytes behind in it. Stateless; safe from any thread.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace weir::base {

template <class T>
class MappedAllocator {
public:
    using value_type = T;
    MappedAllocator() = default;
    template <class U>
    explicit(false) MappedAllocator(const MappedAllocator<U>&) noexcept {}

    [[nodiscard]] T* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        if (bytes < large_bytes) return static_cast<T*>(::operator new(bytes));
        void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) throw std::bad_alloc{};
        return static_cast<T*>(block);
    }
    void deallocate(T* block, std::size_t count) noexcept {
        const std::size_t bytes = count * sizeof(T);
        if (bytes < large_bytes)
            ::operator delete(block);
        else
            ::munmap(block, bytes);
    }
    friend bool operator==(const MappedAllocator&, const MappedAllocator&) noexcept { return true; }

private:
    static constexpr std::size_t large_bytes = std::size_t{1} << 20U;
};

}  // namespace weir::base
