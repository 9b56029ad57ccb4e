// Script: what the simulated model says: an endless row of plain words, one word a token, fixed by a number.
// Narrator: hands it out token by token, with stop strings cut as an engine does it.
// Invariant: all deltas together are the text up to the first stop string. Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::sim {

// The text of one token: a word with the blank, mark or line break that belongs to it.
void append_word(std::string& out, std::uint64_t script, int index);
// How many tokens the model would say by itself, 8..400, short ones more often.
[[nodiscard]] int natural_length(std::uint64_t script) noexcept;

// Where a stop string ends the script within `tokens` tokens.
struct StopPoint {
    int tokens = 0;           // said when the stop string is complete
    std::size_t text_bytes = 0;  // in front of the stop string
    std::string stop;
};
[[nodiscard]] std::optional<StopPoint> find_stop(std::uint64_t script, int tokens,
                                                 const std::vector<std::string>& stops);

class Narrator {
public:
    // `stop_bytes` is where the text ends at the latest; `held_back` bytes are not handed out before finish(), because
    // they could turn out to be the beginning of a stop string.
    Narrator(std::uint64_t script, std::optional<std::size_t> stop_bytes, std::size_t held_back);

    // The text that can be handed out after `tokens` more tokens. Valid until the next call.
    [[nodiscard]] std::string_view say(int tokens);
    // What had been held back.
    [[nodiscard]] std::string_view finish();
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    std::string_view hand_out(std::size_t up_to);

    std::uint64_t script_;
    std::optional<std::size_t> stop_bytes_;
    std::size_t held_back_;
    std::string text_;
    std::size_t handed_out_ = 0;
    int tokens_ = 0;
};

}  // namespace weir::sim
