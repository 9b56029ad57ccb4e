#include "gateway/answer.h"

#include <gtest/gtest.h>

#include <array>

namespace weir::gateway {
namespace {

constexpr std::array<std::string_view, 3> hidden{"timings", "system_fingerprint", "metrics"};

struct Read {
    Answer answer;
    std::string edited;
};

Read read(std::string_view text, std::span<const std::string_view> cut = hidden) {
    AnswerReader reader;
    std::string padded{text};
    padded.append(64, '\0');
    const std::string_view view{padded.data(), text.size()};
    Read result{.answer = reader.read(view, {.alias_json = "\"alias\"", .private_members = cut}), .edited = {}};
    Slices slices;
    splice(view, result.answer.edits, 0, slices);
    result.edited = joined(slices);
    return result;
}

struct EditCase {
    const char* name;
    std::string_view sent;
    std::string_view edited;
};

TEST(Answer, EditsModelAndCutsPrivateMembersOnly) {
    const EditCase cases[] = {
        {"model in the middle", R"({"id":"1", "model" : "real" ,"x":{"model":"kept"}})",
         R"({"id":"1", "model" : "alias" ,"x":{"model":"kept"}})"},
        {"private member at the end", R"({"model":"r","choices":[],"timings":{"a":1}})",
         R"({"model":"alias","choices":[]})"},
        {"private member first", R"({"timings":{"a":[1,2]}, "model":"r"})", R"({"model":"alias"})"},
        {"private member in the middle", R"({"a":1,"system_fingerprint":"b1-2","b":2})", R"({"a":1,"b":2})"},
        {"two in a row at the end", R"({"a":"}," , "timings":{} , "metrics":null })", R"({"a":"}," })"},
        {"two in a row in the middle", R"({"a":1,"timings":{},"metrics":{},"b":[]})", R"({"a":1,"b":[]})"},
        {"nothing but private", R"({"timings":{"a":1}})", R"({})"},
        {"a model that is null stays", R"({"model":null})", R"({"model":null})"},
        {"a key behind an escape is still private", R"({"a":1,"timin\u0067s":{}})", R"({"a":1})"},
    };
    for (const auto& c : cases) {
        const auto result = read(c.sent);
        EXPECT_TRUE(result.answer.is_object) << c.name;
        EXPECT_EQ(result.edited, c.edited) << c.name;
    }
}

TEST(Answer, CallersWithDebugSeePrivateMembers) {
    EXPECT_EQ(read(R"({"model":"r","timings":{"a":1}})", {}).edited, R"({"model":"alias","timings":{"a":1}})");
}

TEST(Answer, WhatIsNotAnObjectIsLeftAlone) {
    for (const std::string_view text : {"", "[1]", "\"x\"", "{\"a\":1", "{\"a\":1} x", "{\"a\"}", "nonsense"}) {
        const auto result = read(text);
        EXPECT_FALSE(result.answer.is_object) << text;
        EXPECT_EQ(result.edited, text);
    }
}

struct OutputCase {
    const char* name;
    std::string_view choice;
    bool output;
    bool visible;
};

TEST(Answer, TellsOutputFromRoleAndEmptyDeltas) {
    const OutputCase cases[] = {
        {"role with null content", R"({"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null})",
         false, false},
        {"role with empty content", R"({"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null})",
         false, false},
        {"content", R"({"index":0,"delta":{"content":"a"}})", true, true},
        {"half a surrogate pair", R"({"index":0,"delta":{"content":"\ud83d"}})", true, true},
        {"a blank is content", R"({"index":0,"delta":{"content":" "}})", true, true},
        {"reasoning is output that a client need not show", R"({"index":0,"delta":{"reasoning_content":"hm"}})", true,
         false},
        {"newer name of reasoning", R"({"index":0,"delta":{"reasoning":"hm"}})", true, false},
        {"tool call", R"({"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}}]}})", true, false},
        {"no tool call", R"({"index":0,"delta":{"tool_calls":[]}})", false, false},
        {"refusal", R"({"index":0,"delta":{"refusal":"no"}})", true, true},
        {"whole message", R"({"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"})", true,
         true},
        {"completion text", R"({"index":0,"text":"a"})", true, true},
        {"finish only", R"({"index":0,"delta":{},"finish_reason":"length"})", false, false},
    };
    for (const auto& c : cases) {
        const auto result = read("{\"choices\":[" + std::string{c.choice} + "]}");
        EXPECT_EQ(result.answer.carries_output, c.output) << c.name;
        EXPECT_EQ(result.answer.visible_output, c.visible) << c.name;
    }
}

TEST(Answer, ReadsFinishReasonsPerChoice) {
    const auto answer =
        read(R"({"choices":[{"index":0,"finish_reason":"stop"},{"index":2,"finish_reason":null}]})").answer;
    EXPECT_EQ(answer.seen_choices, 0b101U);
    EXPECT_EQ(answer.finished_choices, 0b001U);
    EXPECT_EQ(answer.finish_reason, "stop");
    EXPECT_EQ(read(R"({"choices":[{"index":0,"finish_reason":""}]})").answer.finished_choices, 0U);
}

TEST(Answer, ChoicesBeyondAWordOfBitsAreListed) {
    const auto answer = read(R"({"choices":[{"index":63,"finish_reason":"stop"},{"index":64,"finish_reason":null},)"
                             R"({"index":18446744073709551615,"finish_reason":"length"},{"index":-1}]})")
                            .answer;
    EXPECT_EQ(answer.seen_choices, 1ULL << 63U | 1U);
    EXPECT_EQ(answer.finished_choices, 1ULL << 63U);
    ASSERT_EQ(answer.far_choices.size(), 2U);
    EXPECT_EQ(answer.far_choices[0].index, 64U);
    EXPECT_FALSE(answer.far_choices[0].finished);
    EXPECT_TRUE(answer.far_choices[1].finished);
}

TEST(Answer, TokenIdsAreOutputEvenWithoutText) {
    const auto ids =
        read(R"({"choices":[{"index":0,"text":"","token_ids":[5,6]},{"index":1,"token_ids":[7]}]})").answer;
    EXPECT_TRUE(ids.carries_output);
    EXPECT_FALSE(ids.visible_output);
    EXPECT_EQ(ids.token_ids, 3U);
    for (const std::string_view none : {"null", "[]", "7", "{}"}) {
        const auto answer =
            read("{\"choices\":[{\"index\":0,\"text\":\"\",\"token_ids\":" + std::string{none} + "}]}").answer;
        EXPECT_FALSE(answer.carries_output) << none;
        EXPECT_EQ(answer.token_ids, std::nullopt) << none;
    }
}

TEST(Answer, UsageOfWrongTypesIsNone) {
    for (const std::string_view wrong : {R"("7")", "7.5", "-7", "true", "[7]", R"({"n":7})", "null", "1e3",
                                         "9007199254740993", "18446744073709551615"}) {
        const auto answer = read("{\"usage\":{\"prompt_tokens\":" + std::string{wrong} +
                                 ",\"completion_tokens\":5,\"prompt_tokens_details\":" + std::string{wrong} + "}}")
                                .answer;
        EXPECT_TRUE(answer.is_object) << wrong;
        EXPECT_EQ(answer.usage.prompt_tokens, std::nullopt) << wrong;
        EXPECT_EQ(answer.usage.completion_tokens, 5U) << wrong;
        EXPECT_EQ(answer.usage.cached_tokens, std::nullopt) << wrong;
    }
    for (const std::string_view wrong : {"7", R"("x")", "[]", "false"})
        EXPECT_FALSE(read("{\"choices\":[],\"usage\":" + std::string{wrong} + "}").answer.usage_only) << wrong;
}

TEST(Answer, EmbeddingsAreLeftAsTheyAre) {
    const auto result = read(R"({"object":"list","data":[{"embedding":"AACAPw==","index":0}],"model":"r",)"
                             R"("usage":{"prompt_tokens":4,"total_tokens":4}})");
    EXPECT_FALSE(result.answer.carries_output);
    EXPECT_EQ(result.answer.usage.prompt_tokens, 4U);
    EXPECT_EQ(result.answer.usage.completion_tokens, std::nullopt);
    EXPECT_EQ(result.answer.edits.size(), 1U) << "the model";
}

TEST(Answer, ReadsUsageWhereverItStands) {
    const auto answer =
        read(
            R"({"choices":[],"usage":{"prompt_tokens":13,"completion_tokens":48,"prompt_tokens_details":{"cached_tokens":12},
                "completion_tokens_details":{"reasoning_tokens":5}}})")
            .answer;
    EXPECT_TRUE(answer.usage_only);
    EXPECT_EQ(answer.usage.prompt_tokens, 13U);
    EXPECT_EQ(answer.usage.completion_tokens, 48U);
    EXPECT_EQ(answer.usage.cached_tokens, 12U);
    EXPECT_EQ(answer.usage.reasoning_tokens, 5U);
    const auto merged =
        read(R"({"choices":[{"index":0,"finish_reason":"stop","delta":{}}],"usage":{"prompt_tokens":1}})").answer;
    EXPECT_FALSE(merged.usage_only);
    EXPECT_EQ(merged.usage.prompt_tokens, 1U);
    const auto null = read(R"({"choices":[],"usage":null})").answer;
    EXPECT_FALSE(null.usage_only);
    EXPECT_FALSE(null.usage.known());
    EXPECT_EQ(read(R"({"usage":{"prompt_tokens":null,"prompt_tokens_details":null}})").answer.usage.prompt_tokens,
              std::nullopt);
}

TEST(Answer, LlamaTimingsTellUsageAndSpeculationButUsageWins) {
    const auto answer =
        read(R"({"timings":{"cache_n":12,"prompt_n":1,"predicted_n":48,"draft_n":37,"draft_n_accepted":30},
                                 "usage":{"completion_tokens":47}})")
            .answer;
    EXPECT_EQ(answer.usage.prompt_tokens, 13U);
    EXPECT_EQ(answer.usage.cached_tokens, 12U);
    EXPECT_EQ(answer.usage.completion_tokens, 47U);
    EXPECT_EQ(answer.speculation.drafted, 37U);
    EXPECT_EQ(answer.speculation.accepted, 30U);
    EXPECT_FALSE(read(R"({"timings":{"predicted_n":4}})").answer.speculation.known());
}

TEST(Answer, VllmMetricsTellSpeculation) {
    const auto spec =
        read(
            R"({"choices":[],"usage":{"completion_tokens":9},"metrics":{"speculative_decoding":{"mean_acceptance_length":2.5,
        "num_spec_steps":4,"num_accepted_draft_tokens":6,"num_draft_tokens":12}}})")
            .answer.speculation;
    EXPECT_EQ(spec.steps, 4U);
    EXPECT_EQ(spec.drafted, 12U);
    EXPECT_EQ(spec.accepted, 6U);
    EXPECT_EQ(spec.accepted_length, 2.5);
}

TEST(Answer, SeesErrorsButNotNullOnes) {
    EXPECT_TRUE(read(R"({"error":{"message":"x"}})").answer.has_error);
    EXPECT_TRUE(read(R"({"error":"x"})").answer.has_error);
    EXPECT_FALSE(read(R"({"error":null,"choices":[]})").answer.has_error);
}

TEST(Usage, KeepsTheLastToldValueOfEachField) {
    Usage usage{.prompt_tokens = 1, .completion_tokens = 2, .cached_tokens = {}, .reasoning_tokens = {}};
    usage.update({.prompt_tokens = {}, .completion_tokens = 5, .cached_tokens = 3, .reasoning_tokens = {}});
    EXPECT_EQ(usage.prompt_tokens, 1U);
    EXPECT_EQ(usage.completion_tokens, 5U);
    EXPECT_EQ(usage.cached_tokens, 3U);
}

}  // namespace
}  // namespace weir::gateway
