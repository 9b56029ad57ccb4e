#include "gateway/event_shape.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::gateway {
namespace {

EventShape shape_of(std::string_view before, std::string_view varying, std::string_view after) {
    EventShape shape;
    shape.learn(std::string{before}.append(varying).append(after), {before.size(), before.size() + varying.size()});
    return shape;
}

TEST(EventShapeTest, recognises_exactly_the_learnt_event_with_another_plain_string) {
    const EventShape shape = shape_of(R"({"id":"a","c":[{"content":")", "He", R"("}],"f":null})");
    struct Case {
        std::string name;
        std::string text;
        std::optional<std::size_t> bytes;
    };
    const std::vector<Case> cases = {
        {"the same again", R"({"id":"a","c":[{"content":"He"}],"f":null})", 2},
        {"shorter", R"({"id":"a","c":[{"content":"H"}],"f":null})", 1},
        {"longer than eight bytes", R"({"id":"a","c":[{"content":"a long piece of text"}],"f":null})", 20},
        {"UTF-8", "{\"id\":\"a\",\"c\":[{\"content\":\"z\u00fcgig \u6f22\u5b57\"}],\"f\":null}", 13},
        {"empty: carries no output", R"({"id":"a","c":[{"content":""}],"f":null})", std::nullopt},
        {"another id", R"({"id":"b","c":[{"content":"He"}],"f":null})", std::nullopt},
        {"another end", R"({"id":"a","c":[{"content":"He"}],"f":"stop"})", std::nullopt},
        {"another end of the same length", R"({"id":"a","c":[{"content":"He"}],"f":true})", std::nullopt},
        {"more behind the event", R"({"id":"a","c":[{"content":"He"}],"f":null}{"id":"b")", 2},
        {"an end that is cut", R"({"id":"a","c":[{"content":"He"}],"f":null)", std::nullopt},
        {"an escape", R"({"id":"a","c":[{"content":"H\n"}],"f":null})", std::nullopt},
        {"an escaped quote", R"({"id":"a","c":[{"content":"H\""}],"f":null})", std::nullopt},
        {"a member slipped in behind the string", R"({"id":"a","c":[{"content":"H","x":"e"}],"f":null})", std::nullopt},
        {"a control character", "{\"id\":\"a\",\"c\":[{\"content\":\"H\x01\"}],\"f\":null}", std::nullopt},
        {"a control character among many", "{\"id\":\"a\",\"c\":[{\"content\":\"Hello, hello\ttab \"}],\"f\":null}",
         std::nullopt},
        {"broken UTF-8", "{\"id\":\"a\",\"c\":[{\"content\":\"H\xc3\"}],\"f\":null}", std::nullopt},
        {"no closing quote", R"({"id":"a","c":[{"content":"He}],"f":null})", std::nullopt},
        {"nothing", "", std::nullopt},
        {"the beginning alone", R"({"id":"a","c":[{"content":")", std::nullopt},
    };
    for (const auto& [name, text, bytes] : cases)
        EXPECT_EQ(shape.match(text), bytes) << name;
}

TEST(EventShapeTest, matches_nothing_before_it_has_learnt) {
    EventShape shape;
    EXPECT_EQ(shape.match(R"("a")"), std::nullopt);
    shape.learn(R"("a")", {1, 2});
    EXPECT_EQ(shape.match(R"("b")"), 1U);
    EXPECT_EQ(shape.match(R"("bcd")"), 3U);
    EXPECT_EQ(shape.event_bytes(3), 5U);
}

TEST(EventShapeTest, learns_no_event_that_is_long) {
    EventShape shape;
    const std::string longest = '"' + std::string(EventShape::longest_event - 2, 'a') + '"';
    shape.learn(longest, {1, longest.size() - 1});
    EXPECT_EQ(shape.match(longest), longest.size() - 2);
    shape.learn(longest + " ", {1, 2});
    EXPECT_EQ(shape.match(longest + " "), std::nullopt);
    EXPECT_EQ(shape.match(longest), std::nullopt) << "nor is the one before known any more";
}

TEST(EventShapeTest, every_byte_that_is_not_plain_is_seen_at_every_place) {
    for (std::size_t at = 0; at < 40; ++at)
        for (int byte = 0; byte < 256; ++byte) {
            std::string text(40, 'x');
            text[at] = static_cast<char>(byte);
            text += '"';
            const auto found = plain_string_bytes(text, 0);
            if (byte == '"')
                EXPECT_EQ(found, at);
            else if (byte < 0x20 || byte == '\\' || byte >= 0x80)  // one high byte alone is no UTF-8
                EXPECT_EQ(found, std::nullopt) << at << " " << byte;
            else
                EXPECT_EQ(found, 40U) << at << " " << byte;
        }
}

}  // namespace
}  // namespace weir::gateway
