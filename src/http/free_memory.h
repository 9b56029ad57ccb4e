// Gives a string's memory back. `text = std::string{}` does not: libstdc++ then keeps the old allocation, and a
// connection that waits would hold a buffer.
#pragma once

#include <string>

namespace weir::http {

inline void free_memory(std::string& text) noexcept {
    constexpr std::size_t without_allocation = 15;  // what libstdc++ keeps within the object
    text.clear();
    if (text.capacity() > without_allocation) std::string{}.swap(text);
}

}  // namespace weir::http
