#include "http/gather.h"

#include <cassert>
#include <utility>

namespace weir::http {

std::span<const iovec> Gather::fill(std::span<iovec> window) const noexcept {
    std::size_t used = 0;
    const auto add = [&](std::string_view bytes) {
        // The kernel only reads from it.
        if (!bytes.empty()) window[used++] = {.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
    };
    const bool as_at_first = index_ <= 1 && offset_ == 0 && count() <= window.size();
    if (as_at_first) {
        if (index_ == 0) add(parts_.head);
        add(parts_.opening);
        for (const std::string_view slice : parts_.slices)
            add(slice);
        add(parts_.closing);
        return window.first(used);
    }
    std::size_t offset = offset_;
    for (std::size_t index = index_; index < count() && used < window.size(); ++index)
        add(part(index).substr(std::exchange(offset, 0)));
    return window.first(used);
}

std::string Gather::rest() const {
    std::string text;
    std::size_t offset = offset_;
    for (std::size_t index = index_; index < count(); ++index)
        text += part(index).substr(std::exchange(offset, 0));
    return text;
}

void Gather::advance(std::size_t bytes) noexcept {
    offset_ += bytes;
    skip_empty();
}

void Gather::skip_empty() noexcept {
    while (index_ < count() && offset_ >= part(index_).size())
        offset_ -= part(index_++).size();
    assert((index_ < count() || offset_ == 0) && "more was sent than there was");
}

std::string_view Gather::part(std::size_t index) const noexcept {
    if (index == 0) return parts_.head;
    if (index == 1) return parts_.opening;
    return index - 2 < parts_.slices.size() ? parts_.slices[index - 2] : parts_.closing;
}

}  // namespace weir::http
