#include "sim/script.h"

#include "sim/tokenizer.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weir::sim {
namespace {

// Words of several alphabets, so that every reader of the stream meets characters of two, three and four bytes.
constexpr std::array<std::string_view, 48> words{
    "river",   "water",   "stone",   "the",   "a",     "of",     "and",    "over",       "under",       "slow",
    "quick",   "measure", "gate",    "level", "flow",  "bank",   "bridge", "morning",    "light",       "north",
    "harbour", "reed",    "mill",    "wheel", "café",  "naïve",  "größe",  "señor",      "Ωmega",       "река",
    "水",      "東京",    "🙂",      "🌊",    "one",   "two",    "three",  "\"quoted\"", "back\\slash", "kept",
    "turned",  "carries", "between", "rises", "falls", "always", "never",  "perhaps"};

}  // namespace

void append_word(std::string& out, std::uint64_t script, int index) {
    const auto draw = mix(script ^ (static_cast<std::uint64_t>(index) << 1U));
    if (index > 0) out += draw % 97 == 0 ? '\n' : ' ';
    out += words[(draw >> 8U) % words.size()];
    if (draw % 11 == 1) out += '.';
}

int natural_length(std::uint64_t script) noexcept {
    constexpr double shortest = 8;
    constexpr double longest = 400;
    const double where = static_cast<double>(mix(script ^ 0x5EEDU) >> 11U) * 0x1.0p-53;
    return static_cast<int>(std::lround(shortest * std::pow(longest / shortest, where)));
}

std::optional<StopPoint> find_stop(std::uint64_t script, int tokens, const std::vector<std::string>& stops) {
    if (stops.empty()) return std::nullopt;
    std::size_t longest = 0;
    for (const auto& stop : stops)
        longest = std::max(longest, stop.size());
    std::string text;
    for (int i = 0; i < tokens; ++i) {
        const std::size_t from = text.size() < longest ? 0 : text.size() - longest + 1;
        append_word(text, script, i);
        for (const auto& stop : stops)
            if (const auto found = text.find(stop, from); found != std::string::npos)
                return StopPoint{.tokens = i + 1, .text_bytes = found, .stop = stop};
    }
    return std::nullopt;
}

Narrator::Narrator(std::uint64_t script, std::optional<std::size_t> stop_bytes, std::size_t held_back)
    : script_{script}, stop_bytes_{stop_bytes}, held_back_{held_back} {}

std::string_view Narrator::say(int tokens) {
    for (int i = 0; i < tokens; ++i)
        append_word(text_, script_, tokens_++);
    if (stop_bytes_ && text_.size() > *stop_bytes_) text_.resize(*stop_bytes_);
    return hand_out(text_.size() - std::min(held_back_, text_.size()));
}

std::string_view Narrator::finish() { return hand_out(text_.size()); }

std::string_view Narrator::hand_out(std::size_t up_to) {
    // Never cut inside a character: its other bytes would come in the next event.
    while (up_to > handed_out_ && up_to < text_.size() && (static_cast<unsigned char>(text_[up_to]) & 0xC0U) == 0x80U)
        --up_to;
    if (up_to <= handed_out_) return {};
    const auto delta = std::string_view{text_}.substr(handed_out_, up_to - handed_out_);
    handed_out_ = up_to;
    return delta;
}

}  // namespace weir::sim
