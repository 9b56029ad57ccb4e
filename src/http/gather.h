// Gather: the parts of one write, in order, and how far they were sent. Copies no bytes: the parts outlive it.
// Layout: up to two parts in front (a head, the opening of a chunk), the caller's slices, one part behind.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace weir::http {

[[nodiscard]] inline std::size_t total_bytes(std::span<const std::string_view> slices) noexcept {
    std::size_t total = 0;
    for (const std::string_view slice : slices)
        total += slice.size();
    return total;
}

class Gather {
public:
    struct Parts {
        std::string_view head = {};
        std::string_view opening = {};
        std::span<const std::string_view> slices = {};
        std::size_t slice_bytes = 0;  // all slices together: who makes parts has counted them
        std::string_view closing = {};
    };
    explicit Gather(const Parts& parts) noexcept
        : parts_{parts}, left_{parts.head.size() + parts.opening.size() + parts.slice_bytes + parts.closing.size()} {}

    // Unless done(): describes what is left, as much as fits; returns the part of `window` that is filled.
    [[nodiscard]] std::span<const iovec> fill(std::span<iovec> window) const noexcept;
    // Counts `bytes`, which fill() described, as sent.
    void advance(std::size_t bytes) noexcept;
    // Unless done(): what is left, as one text of its own.
    [[nodiscard]] std::string rest() const;
    [[nodiscard]] bool done() const noexcept { return left_ == 0; }

private:
    [[nodiscard]] std::size_t count() const noexcept { return parts_.slices.size() + 3; }
    [[nodiscard]] std::string_view part(std::size_t index) const noexcept;
    [[nodiscard]] std::span<const iovec> fill_with_all(std::span<iovec> window) const noexcept;

    Parts parts_;
    std::size_t left_;       // bytes still to be sent
    std::size_t index_ = 0;  // the part they begin in
    std::size_t offset_ = 0;  // bytes of it that were sent
};

}  // namespace weir::http
