// TextBuilder: a text made of pieces, with one allocation. Whoever makes it knows how long it may become.
// Invariant: never longer than the capacity it was made with.
#pragma once

#include <cassert>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace weir::base {

// Writes a number's digits and returns their end. Precondition: there is room for them.
template <std::unsigned_integral Number>
[[nodiscard]] char* write_digits(char* at, char* end, Number number) noexcept {
    if (number < 10 && at != end) {  // most are
        *at = static_cast<char>('0' + number);
        return at + 1;
    }
    const auto written = std::to_chars(at, end, number);
    assert(written.ec == std::errc{} && "the digits fit");
    return written.ptr;
}

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
        char* const begin = text_.data();
        size_ = static_cast<std::size_t>(write_digits(begin + size_, begin + text_.size(), number) - begin);
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
