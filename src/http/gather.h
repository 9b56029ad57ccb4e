// Gather: the parts of one write, in order, and how far they were sent. Copies no bytes: the parts outlive it.
// Layout: up to two parts in front (a head, the opening of a chunk), the caller's slices, one part behind.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace weir::http {

class Gather {
public:
    struct Parts {
        std::string_view head = {};
        std::string_view opening = {};
        std::span<const std::string_view> slices = {};
        std::string_view closing = {};
    };
    explicit Gather(const Parts& parts) noexcept : parts_{parts} { skip_empty(); }

    // Describes what is left, as much as fits; returns the part of `window` that is filled.
    [[nodiscard]] std::span<const iovec> fill(std::span<iovec> window) const noexcept;
    // Counts `bytes`, which fill() described, as sent.
    void advance(std::size_t bytes) noexcept;
    // What is left, as one text of its own.
    [[nodiscard]] std::string rest() const;
    [[nodiscard]] bool done() const noexcept { return index_ == count(); }

private:
    [[nodiscard]] std::size_t count() const noexcept { return parts_.slices.size() + 3; }
    [[nodiscard]] std::string_view part(std::size_t index) const noexcept;
    void skip_empty() noexcept;

    Parts parts_;
    std::size_t index_ = 0;
    std::size_t offset_ = 0;  // bytes of part index_ that were sent
};

[[nodiscard]] inline std::size_t total_bytes(std::span<const std::string_view> slices) noexcept {
    std::size_t total = 0;
    for (const std::string_view slice : slices)
        total += slice.size();
    return total;
}

}  // namespace weir::http
