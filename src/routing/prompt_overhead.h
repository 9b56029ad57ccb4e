// PromptOverhead: an upper bound on the tokens that a pool's engine adds to what a client wrote (chat template, default
// system prompt, special tokens), learnt from the prompt tokens that it reports. See docs/decisions/context.md.
// Rule: whatever is added is part of every prompt, so it is at most the smallest prompt reported; a report above
// bytes + bound proves it wrong and raises it. The last 1024 to 2048 reports of each kind count.
// Threads: any; a report is a few relaxed atomic operations. Units: tokens; bytes of JSON text.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

namespace weir::routing {

// Prompts that an engine puts together alike.
enum class PromptKind : std::uint8_t { chat, chat_with_tools, text, embedding };

struct PromptReport {
    std::uint64_t tokens = 0;  // as the engine told
    std::uint64_t bytes = 0;  // of the JSON text that became the prompt
};

class PromptOverhead {
public:
    static constexpr std::uint32_t window = 1024;  // reports

    void note(PromptKind kind, PromptReport report) noexcept;
    // nullopt: nothing was reported yet.
    [[nodiscard]] std::optional<std::uint64_t> at_most(PromptKind kind) const noexcept;

private:
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    struct Generation {
        std::atomic<std::uint64_t> least_tokens{none};
        std::atomic<std::uint64_t> most_excess{0};  // tokens beyond the bytes
    };
    struct Kind {
        std::atomic<std::uint32_t> reports{0};
        std::array<Generation, 2> generations;  // the window that fills, and the one before it
    };
    std::array<Kind, 4> kinds_;
};

}  // namespace weir::routing
