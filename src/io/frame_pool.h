// Frame pool: recycles coroutine frames through short free lists, one set for each thread.
// Invariant: every block comes from and returns to operator new, so a frame may be freed on any thread.
// AddressSanitizer builds bypass the lists, so that a use after free is seen. Units: bytes.
#pragma once

#include <cstddef>

namespace weir::io {

// Never null; throws std::bad_alloc. `bytes` must be the same in both calls.
[[nodiscard]] void* allocate_frame(std::size_t bytes);
void free_frame(void* frame, std::size_t bytes) noexcept;

}  // namespace weir::io
