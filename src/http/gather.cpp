#include "http/gather.h"

#include <cassert>
#include <utility>

namespace weir::http {
namespace {

// The kernel only reads from it.
iovec described(std::string_view bytes) noexcept {
    return {.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
}

}  // namespace

std::span<const iovec> Gather::fill(std::span<iovec> window) const noexcept {
    const bool untouched = index_ == 0 && offset_ == 0;
    if (untouched && count() <= window.size()) return fill_with_all(window);
    std::size_t used = 0;
    std::size_t offset = offset_;
    for (std::size_t index = index_; index < count() && used < window.size(); ++index) {
        const auto rest = part(index).substr(std::exchange(offset, 0));
        if (!rest.empty()) window[used++] = described(rest);
    }
    return window.first(used);
}

std::span<const iovec> Gather::fill_with_all(std::span<iovec> window) const noexcept {
    std::size_t used = 0;
    if (!parts_.head.empty()) window[used++] = described(parts_.head);
    if (!parts_.opening.empty()) window[used++] = described(parts_.opening);
    for (const std::string_view slice : parts_.slices)
        if (!slice.empty()) window[used++] = described(slice);
    if (!parts_.closing.empty()) window[used++] = described(parts_.closing);
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
    assert(bytes <= left_ && "more was sent than there was");
    left_ -= bytes;
    if (left_ == 0) return;  // the common case; nobody asks for more
    offset_ += bytes;
    while (offset_ >= part(index_).size())
        offset_ -= part(index_++).size();
}

std::string_view Gather::part(std::size_t index) const noexcept {
    if (index == 0) return parts_.head;
    if (index == 1) return parts_.opening;
    return index - 2 < parts_.slices.size() ? parts_.slices[index - 2] : parts_.closing;
}

}  // namespace weir::http
