// EventShape: recognises an event that repeats an earlier one of the same stream but for one string, which is what
// nearly all events of a token stream do. Such an event needs no parser, not even to find where it ends: what was read
// of the earlier one holds.
// Exact, never a guess: all bytes outside the string are equal, the string is valid JSON text without escapes.
// Units: bytes. Pure; one for each stream.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weir::gateway {

// Where a string's bytes lie within a text, its quotes not included.
struct StringSpan {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// How long the text from `at` on is a JSON string without escapes, up to its closing quote; nullopt when it holds an
// escape, a control character or bytes that are not UTF-8, or has no closing quote.
[[nodiscard]] std::optional<std::size_t> plain_string_bytes(std::string_view text, std::size_t at);

class EventShape {
public:
    // Each stream keeps the event it has learnt. Longer ones are rare, and dear to relay in any case.
    static constexpr std::size_t longest_event = 4096;

    // `varying` lies within `event` and is not empty. Behind an event that is too long nothing is known.
    void learn(std::string_view event, StringSpan varying);
    // How long the string is in the event with which `bytes` begin, when that has the learnt shape; never 0.
    [[nodiscard]] std::optional<std::size_t> match(std::string_view bytes) const;
    [[nodiscard]] StringSpan varying() const noexcept { return varying_; }
    // Of a whole event whose string is that long.
    [[nodiscard]] std::size_t event_bytes(std::size_t string_bytes) const noexcept {
        return event_.size() - (varying_.end - varying_.begin) + string_bytes;
    }

private:
    std::string event_;
    StringSpan varying_;
};

}  // namespace weir::gateway
