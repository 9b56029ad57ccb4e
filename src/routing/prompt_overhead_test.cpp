#include "routing/prompt_overhead.h"

#include <gtest/gtest.h>

#include <string_view>
#include <thread>
#include <vector>

namespace weir::routing {
namespace {

struct Case {
    std::string_view name;
    std::vector<PromptReport> reports;
    std::optional<std::uint64_t> expected;
};

TEST(PromptOverhead, IsAtMostTheSmallestPromptUnlessThatIsDisproved) {
    const Case cases[] = {
        {"nothing reported", {}, std::nullopt},
        {"one prompt holds the whole template", {{40, 100}}, 40},
        {"the smallest counts", {{400, 1500}, {40, 100}, {90, 300}}, 40},
        {"a count that was not made is none", {{0, 100}}, std::nullopt},
        {"and does not lower it", {{40, 100}, {0, 100}}, 40},
        {"more tokens than bytes and bound prove it wrong", {{40, 100}, {250, 100}}, 150},
        {"a larger prompt within the bound proves nothing", {{40, 100}, {130, 100}}, 40},
    };
    for (const auto& c : cases) {
        PromptOverhead overhead;
        for (const auto& report : c.reports)
            overhead.note(PromptKind::chat, report);
        EXPECT_EQ(overhead.at_most(PromptKind::chat), c.expected) << c.name;
    }
}

// Whatever the hidden part, and however long the texts: the bound holds for each prompt.
TEST(PromptOverhead, BytesAndOverheadBoundEveryPrompt) {
    for (const std::uint64_t hidden : {0U, 1U, 25U, 700U}) {
        PromptOverhead overhead;
        std::vector<PromptReport> prompts;
        std::uint64_t state = 42 + hidden;
        for (int i = 0; i < 500; ++i) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            const std::uint64_t bytes = 1 + (state >> 33U) % 5000;
            // Between one token for each byte and one for each seven.
            prompts.push_back({.tokens = hidden + (bytes + state % 7) / (1 + state % 7), .bytes = bytes});
        }
        overhead.note(PromptKind::text, prompts.front());
        for (const auto& prompt : prompts) {
            EXPECT_LE(prompt.tokens, prompt.bytes + overhead.at_most(PromptKind::text).value_or(0)) << hidden;
            overhead.note(PromptKind::text, prompt);
        }
    }
}

TEST(PromptOverhead, KindsAreLearntApart) {
    PromptOverhead overhead;
    overhead.note(PromptKind::chat, {.tokens = 30, .bytes = 90});
    overhead.note(PromptKind::chat_with_tools, {.tokens = 500, .bytes = 900});
    EXPECT_EQ(overhead.at_most(PromptKind::chat), 30U);
    EXPECT_EQ(overhead.at_most(PromptKind::chat_with_tools), 500U);
    EXPECT_EQ(overhead.at_most(PromptKind::text), std::nullopt);
    EXPECT_EQ(overhead.at_most(PromptKind::embedding), std::nullopt);
}

TEST(PromptOverhead, OldReportsAreForgottenAfterTwoWindows) {
    PromptOverhead overhead;
    overhead.note(PromptKind::chat, {.tokens = 30, .bytes = 90});
    for (std::uint32_t i = 1; i < PromptOverhead::window; ++i)
        overhead.note(PromptKind::chat, {.tokens = 300, .bytes = 900});
    EXPECT_EQ(overhead.at_most(PromptKind::chat), 30U);
    for (std::uint32_t i = 0; i < PromptOverhead::window; ++i)
        overhead.note(PromptKind::chat, {.tokens = 300, .bytes = 900});
    EXPECT_EQ(overhead.at_most(PromptKind::chat), 30U) << "the window before still counts";
    overhead.note(PromptKind::chat, {.tokens = 300, .bytes = 900});
    EXPECT_EQ(overhead.at_most(PromptKind::chat), 300U);
}

TEST(PromptOverhead, IsSharedByThreads) {
    PromptOverhead overhead;
    {
        std::vector<std::jthread> threads;
        for (std::uint64_t t = 0; t < 4; ++t)
            threads.emplace_back([&overhead, t] {
                for (std::uint64_t i = 0; i < 200; ++i)
                    overhead.note(PromptKind::chat, {.tokens = 20 + (i + t) % 50, .bytes = 10});
            });
    }
    EXPECT_EQ(overhead.at_most(PromptKind::chat), 59U) << "69 tokens of 10 bytes";
}

}  // namespace
}  // namespace weir::routing
