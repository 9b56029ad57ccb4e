#include "base/yaml.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace weir::base {
namespace {

Document parse_good(std::string_view text, const YamlLimits& limits = {}) {
    Problems problems;
    auto document = parse_yaml(text, "f", problems, limits);
    EXPECT_TRUE(problems.empty()) << problems.format();
    return document ? std::move(*document) : Document{"f", NodeEditor::make(NodeKind::null, {1, 1})};
}

std::string problems_of(std::string_view text, const YamlLimits& limits = {}) {
    Problems problems;
    (void)parse_yaml(text, "f", problems, limits);
    return problems.format();
}

TEST(Yaml, KnowsPositionsKeysAndPaths) {
    const auto document = parse_good("a: 1\nb:\n  c: [x, 'y z']\n  d: {e: \"f\"}\n");
    const auto& c = *document.root().find("b")->find("c");
    EXPECT_EQ(c.key_position(), (Position{3, 3}));
    EXPECT_EQ(c.position(), (Position{3, 6}));
    EXPECT_EQ(c.children()[1].text(), "y z");
    EXPECT_EQ(c.children()[1].position(), (Position{3, 10}));
    EXPECT_EQ(c.children()[1].path(), "b.c[1]");
    EXPECT_EQ(document.root().find("b")->find("d")->find("e")->path(), "b.d.e");
    EXPECT_EQ(document.root().path(), "");
    EXPECT_EQ(document.root().find("zz"), nullptr);
}

TEST(Yaml, PathsSurviveAMoveOfTheDocument) {
    auto document = parse_good("a: {b: 1}\n");
    const auto moved = std::move(document);
    EXPECT_EQ(moved.root().find("a")->find("b")->path(), "a.b");
}

TEST(Yaml, ProblemsAtPathsGoAsFarAsTheFileGoes) {
    const auto document = parse_good("a:\n  b: [{c: 1}]\n");
    const std::vector<std::string> there{"a", "b", "0", "c"};
    const std::vector<std::string> further{"a", "b", "0", "x", "y"};
    EXPECT_EQ(format(document.problem_at(there, "m")), "f:2:11: a.b[0].c: m");
    EXPECT_EQ(format(document.problem_at(further, "m")), "f:2:7: a.b[0].x.y: m");
}

TEST(Yaml, NothingIsNull) {
    EXPECT_TRUE(parse_good("").root().is_null());
    EXPECT_TRUE(parse_good("# only a comment\n").root().is_null());
    const auto document = parse_good("a:\nb: ~\nc: ''\n");
    EXPECT_TRUE(document.root().find("a")->is_null());
    EXPECT_TRUE(document.root().find("b")->is_null());
    EXPECT_TRUE(document.root().find("c")->is_scalar());
    EXPECT_EQ(document.root().find("a")->position(), (Position{1, 1}));
}

TEST(Yaml, AnchorsAreCopiesAndMergesFillInWhatIsMissing) {
    const auto document =
        parse_good("base: &b {x: 1, y: 2}\nplain: *b\nmerged: {<<: *b, y: 3}\nmany: {<<: [{z: 1}, *b], x: 9}\n");
    EXPECT_EQ(document.root().find("plain")->find("x")->text(), "1");
    EXPECT_EQ(document.root().find("plain")->find("x")->path(), "plain.x");
    EXPECT_EQ(document.root().find("merged")->find("y")->text(), "3");
    EXPECT_EQ(document.root().find("merged")->find("x")->text(), "1");
    EXPECT_EQ(document.root().find("merged")->find("<<"), nullptr);
    EXPECT_EQ(document.root().find("many")->find("z")->text(), "1");
    EXPECT_EQ(document.root().find("many")->find("x")->text(), "9");
}

TEST(Yaml, DuplicateKeysAreProblemsButTheRestComes) {
    Problems problems;
    const auto document = parse_yaml("a:\n  b: 1\n  c: 2\n  b: 3\nd: 4\na: 5\n", "f", problems);
    EXPECT_EQ(problems.format(),
              "f:4:3: a.b: duplicate key; it is already given in line 2\nf:6:1: a: duplicate key; it is already given "
              "in line 1\n");
    ASSERT_TRUE(document);
    EXPECT_EQ(document->root().find("a")->find("b")->text(), "1");
    EXPECT_EQ(document->root().find("d")->text(), "4");
}

struct RefusalCase {
    std::string_view name;
    std::string text;
    std::string_view expected;  // how the first problem begins
};

TEST(Yaml, RefusesWithThePosition) {
    const std::vector<RefusalCase> cases{
        {"unclosed", "a: [1, 2\n", "f:2:1: not valid YAML"},
        {"bad indentation", "a: 1\n  b: 2\n", "f:2:4: not valid YAML"},
        {"tab", "a:\n\tb: 1\n", "f:2:"},
        {"two documents", "a: 1\n---\nb: 2\n", "f:2:1: a second document"},
        {"rest after the document", "a: 1\n...\n]\n", "f:3:1:"},
        {"unknown alias", "a: *b\n", "f:1:4: not valid YAML"},
        {"alias of itself", "a: &x [*x]\n", "f:1:8: a[0]: an alias inside"},
        {"map as key", "{a: 1}: 2\n", "f:1:1: a key must be"},
        {"list as key", "? [a]\n: 2\n", "f:1:3: a key must be"},
        {"null as key", "~: 2\n", "f:1:1: a key must be"},
        {"tag", "a: !include other.yaml\n", "f:1:4: a: the tag '!include'"},
        {"merge of a text", "a: {<<: b}\n", "f:1:5: a key"},
        {"NUL", std::string{"a: b\0c", 6}, "f:1:5: a control character"},
        {"invalid UTF-8", "a: 1\nb: \xFF\n", "f:2:4: not valid UTF-8"},
        {"UTF-16",
         std::string{"\xFF\xFE"
                     "a\0:\0",
                     6},
         "f:1:1: not valid UTF-8"},
        {"ELF",
         std::string{"\x7F"
                     "ELF",
                     4},
         "f:1:1: a control character"},
    };
    for (const auto& [name, text, expected] : cases) {
        const auto problems = problems_of(text);
        if (name == "merge of a text")
            EXPECT_TRUE(problems.contains("<< takes a map")) << problems;
        else
            EXPECT_TRUE(problems.starts_with(expected)) << name << ": " << problems;
    }
}

std::string repeated(std::string_view part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i)
        text += part;
    return text;
}

TEST(Yaml, CopiesThroughAliasesCountAgainstTheLimits) {
    const std::string uses = "[&a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]" + repeated(", *a", 50) + "]";
    EXPECT_TRUE(problems_of(uses, {.nodes = 200}).contains("more than 200 values"));
    EXPECT_EQ(problems_of(uses, {.nodes = 1000}), "");
    EXPECT_TRUE(problems_of("[&a [[1]], [[*a]]]", {.depth = 5}).contains("deeper than 5 levels"));
    EXPECT_EQ(problems_of("[&a [[1]], [[*a]]]", {.depth = 6}), "");
}

TEST(Yaml, LimitsAreExact) {
    const YamlLimits small{.file_bytes = 40, .scalar_bytes = 8, .nodes = 4, .depth = 3};
    EXPECT_EQ(problems_of("[1, 2, 3]", small), "");
    EXPECT_TRUE(problems_of("[1, 2, 3, 4]", small).contains("more than 4 values"));
    EXPECT_EQ(problems_of("[[[1]]]", small), "");
    EXPECT_TRUE(problems_of("[[[[]]]]", small).contains("deeper than 3 levels"));
    EXPECT_EQ(problems_of("12345678", small), "");
    EXPECT_TRUE(problems_of("123456789", small).contains("longer than 8 bytes"));
    EXPECT_TRUE(problems_of(std::string(41, '#'), small).contains("larger than 40 bytes"));
}

// Ten aliases of ten aliases of ...: 10^9 values in 500 bytes.
std::string alias_bomb() {
    std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; ++i) {
        const auto before = "*a" + std::to_string(i - 1);
        text +=
            "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + repeated(before + ", ", 9) + before + "]\n";
    }
    return text;
}

TEST(Yaml, HostileTextsAreRefusedFast) {
    std::string block_nesting;
    for (int i = 0; i < 3000; ++i)
        block_nesting += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    const std::vector<std::pair<std::string_view, std::string>> texts{
        {"open lists", std::string(100'000, '[')},
        {"open maps", std::string(100'000, '{')},
        {"open maps with keys", repeated("{a: ", 50'000)},
        {"dashes", repeated("- ", 100'000)},
        {"block nesting", block_nesting},
        {"one enormous value", "a: " + std::string(1'100'000, 'x')},
        {"one enormous quoted value", "a: '" + std::string(1'100'000, 'x') + "'"},
        {"alias bomb", alias_bomb()},
        {"many values", "a: [" + repeated("1,", 500'001) + "]"},
        {"question marks", repeated("? ", 100'000)},
        {"binary", repeated(std::string_view{"\0\1\2\xFE", 4}, 1'000'000)},
        {"too large", std::string((16U << 20U) + 1, ' ')},
    };
    for (const auto& [name, text] : texts) {
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_NE(problems_of(text), "") << name;
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{10}) << name;
    }
}

}  // namespace
}  // namespace weir::base
