#include "io/watch_table.h"

#include <cassert>

namespace weir::io {
namespace {

std::uint32_t slot_of(WatchTable::Token token) noexcept { return static_cast<std::uint32_t>(token); }
std::uint32_t generation_of(WatchTable::Token token) noexcept { return static_cast<std::uint32_t>(token >> 32); }

}  // namespace

WatchTable::Token WatchTable::add(EventSource& source) {
    if (free_.empty()) {
        slots_.emplace_back();
        free_.reserve(slots_.capacity());  // so that remove() never allocates
        free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    slots_[index].source = &source;
    return (Token{slots_[index].generation} << 32) | index;
}

void WatchTable::remove(Token token) noexcept {
    assert(find(token) != nullptr);
    Slot& slot = slots_[slot_of(token)];
    slot.source = nullptr;
    ++slot.generation;
    free_.push_back(slot_of(token));
}

EventSource* WatchTable::find(Token token) const noexcept {
    const std::uint32_t index = slot_of(token);
    if (index >= slots_.size() || slots_[index].generation != generation_of(token)) return nullptr;
    return slots_[index].source;
}

}  // namespace weir::io
