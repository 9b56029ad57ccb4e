#include "base/json_writer.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstdint>
#include <limits>

namespace weir::base {
namespace {

std::string escaped(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

TEST(JsonWriter, NestsAndPlacesCommas) {
    JsonWriter json;
    json.begin_object()
        .member("a", 1)
        .key("b")
        .begin_array()
        .number(1)
        .string("x")
        .null()
        .begin_object()
        .end_object()
        .end_array();
    json.key("c").begin_object().member("d", true).member("e", "text").end_object().key("f").raw("[1]").end_object();
    EXPECT_EQ(json.text(), R"({"a":1,"b":[1,"x",null,{}],"c":{"d":true,"e":"text"},"f":[1]})");
}

TEST(JsonWriter, EscapesEverythingThatJsonRequires) {
    EXPECT_EQ(escaped("\"\\/\b\f\n\r\t"), R"("\"\\/\u0008\u000c\n\r\t")");
    EXPECT_EQ(escaped(std::string_view{"\0\x1F\x7F", 3}), R"("\u0000\u001f\u007f")");
    EXPECT_EQ(escaped("ä€𝄞"), "\"ä€𝄞\"");
}

TEST(JsonWriter, ReplacesInvalidUtf8) {
    EXPECT_EQ(escaped("a\xFF"
                      "b"),
              "\"a\xEF\xBF\xBD"
              "b\"");
    EXPECT_EQ(escaped("\xE2\x82"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(JsonWriter, AnyBytesAreReadBackAsValidJson) {
    std::string bytes;
    for (int i = 0; i < 256; ++i)
        bytes += static_cast<char>(i);
    const simdjson::padded_string json{escaped(bytes)};
    simdjson::dom::parser parser;
    EXPECT_FALSE(parser.parse(json).error());
}

// Text is looked at eight bytes at a time: every byte value at every place of texts shorter and longer than that.
TEST(JsonWriter, EscapesTheSameAtEveryPlace) {
    for (std::size_t length = 1; length <= 19; ++length)
        for (std::size_t place = 0; place < length; ++place)
            for (int byte = 0; byte < 0x80; ++byte) {
                const char special = static_cast<char>(byte);
                const std::string before(place, 'a'), after(length - place - 1, '~');
                const std::string alone = escaped(std::string_view{&special, 1});
                const std::string expected = "\"" + before + alone.substr(1, alone.size() - 2) + after + "\"";
                ASSERT_EQ(escaped(before + special + after), expected) << length << " " << place << " " << byte;
            }
    for (std::size_t place = 0; place < 17; ++place) {
        std::string text(17, 'a');
        text[place] = '\xFF';
        EXPECT_NE(escaped(text).find("\xEF\xBF\xBD"), std::string::npos) << place;
    }
}

TEST(JsonWriter, NumbersAreExact) {
    JsonWriter json;
    json.begin_array();
    json.number(std::numeric_limits<std::int64_t>::min()).number(std::numeric_limits<std::uint64_t>::max());
    json.number(0.1).number(1e300).number(2.5, 3).number(std::uint8_t{7});
    json.number(std::numeric_limits<double>::quiet_NaN())
        .number(std::numeric_limits<double>::infinity(), 2)
        .end_array();
    EXPECT_EQ(json.text(), "[-9223372036854775808,18446744073709551615,0.1,1e+300,2.500,7,null,null]");
}

TEST(JsonWriter, IsReusable) {
    JsonWriter json;
    json.begin_array().number(1);
    json.clear();
    json.begin_array().number(2).end_array();
    EXPECT_EQ(std::move(json).take(), "[2]");
}

}  // namespace
}  // namespace weir::base
