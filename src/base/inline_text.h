// InlineText: a short text made of pieces, which lives in itself. Invariant: never longer than Capacity bytes; whoever
// makes it knows how long it may become.
#pragma once

#include "base/text_builder.h"

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace weir::base {

template <std::size_t Capacity>
class InlineText {
public:
    void add(std::string_view piece) noexcept {
        assert(piece.size() <= Capacity - size_);
        piece.copy(text_.data() + size_, piece.size());
        size_ += piece.size();
    }
    template <std::unsigned_integral Number>
    void add_number(Number number) noexcept {
        size_ = static_cast<std::size_t>(write_digits(text_.data() + size_, text_.data() + Capacity, number) -
                                         text_.data());
    }
    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

private:
    std::array<char, Capacity> text_;
    std::size_t size_ = 0;
};

}  // namespace weir::base
