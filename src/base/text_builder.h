// TextBuilder: a text made of pieces, with one allocation. Whoever makes it knows how long it may become.
// Invariant: never longer than the capacity it was made with.
#pragma once

#include <array>
#include <cassert>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace weir::base {

class TextBuilder {
public:
    explicit TextBuilder(std::size_t capacity) : text_(capacity, '\0') {}

    void add(std::string_view piece) noexcept {
        assert(piece.size() <= text_.size() - size_);
        piece.copy(text_.data() + size_, piece.size());
        size_ += piece.size();
    }
    template <std::unsigned_integral Number>
    void add_number(Number number) noexcept {
        std::array<char, 20> digits;
        const auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        add({digits.data(), static_cast<std::size_t>(end - digits.data())});
    }
    [[nodiscard]] std::string take() && {
        text_.resize(size_);
        return std::move(text_);
    }

private:
    std::string text_;
    std::size_t size_ = 0;
};

}  // namespace weir::base
