// The JSON Schema and the parser come from the same tables; these tests hold the result against the examples.
#include "base/yaml.h"
#include "config/config.h"
#include "config/test_config.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <set>
#include <string>
#include <vector>

namespace weir::config {
namespace {

using simdjson::dom::element;

base::Document parsed_example(const std::string& name) {
    const auto path = std::string{WEIR_TEST_DATA} + "/../../examples/" + name;
    base::Problems problems;
    auto document = base::parse_yaml(read_file(path, 1U << 20U).value(), name, problems);
    EXPECT_TRUE(document) << problems.format();
    return std::move(document.value());
}

// Every key that the schema knows, as "pools.*.target.model"; "*" is any name or index.
void collect_schema(const element& schema, const std::string& path, std::set<std::string>& out) {
    const auto deeper = [&](std::string_view key) {
        return path.empty() ? std::string{key} : path + "." + std::string{key};
    };
    simdjson::dom::object object;
    simdjson::dom::array array;
    element found;
    if (!schema["properties"].get(object))
        for (const auto& [key, value] : object) {
            out.insert(deeper(key));
            collect_schema(value, deeper(key), out);
        }
    if (!schema["additionalProperties"].get(found) && found.is_object()) collect_schema(found, deeper("*"), out);
    if (!schema["items"].get(found)) collect_schema(found, deeper("*"), out);
    if (!schema["anyOf"].get(array))
        for (const auto& alternative : array)
            collect_schema(alternative, path, out);
}

std::set<std::string> schema_keys() {
    simdjson::dom::parser parser;
    const simdjson::padded_string text{json_schema()};
    std::set<std::string> keys;
    collect_schema(parser.parse(text).value(), "", keys);
    return keys;
}

bool is_free(const std::set<std::string>& schema, const std::string& path) {
    return std::ranges::any_of(schema, [&](const auto& key) { return key.starts_with(path + ".*."); });
}

// The keys of a file in the same spelling.
void collect_file(const base::Node& node, const std::string& path, const std::set<std::string>& schema,
                  std::set<std::string>& out) {
    const bool any = node.is_sequence() || (node.is_map() && is_free(schema, path));
    for (const auto& child : node.children()) {
        const auto step = any ? std::string{"*"} : child.key();
        const auto deeper = path.empty() ? step : path + "." + step;
        if (!any) out.insert(deeper);
        collect_file(child, deeper, schema, out);
    }
}

std::set<std::string> file_keys(const std::string& name) {
    std::set<std::string> keys;
    collect_file(parsed_example(name).root(), "", schema_keys(), keys);
    return keys;
}

// Limits are the same table in every scope, so the example need not show all of them in each.
std::set<std::string> with_limits_once(const std::set<std::string>& keys) {
    std::set<std::string> result;
    for (const auto& key : keys) {
        const auto at = key.find(".limits.");
        const bool scope = at != std::string::npos && !key.starts_with("server.");
        result.insert(scope ? "SCOPE" + key.substr(at) : key);
    }
    return result;
}

TEST(ConfigSchema, FullExampleShowsEveryKeyThereIsAndNoOther) {
    EXPECT_EQ(with_limits_once(file_keys("full.yaml")), with_limits_once(schema_keys()));
}

TEST(ConfigSchema, OtherExamplesUseKnownKeysOnly) {
    const auto known = schema_keys();
    for (const std::string name : {"minimal.yaml", "two-pools.yaml"})
        for (const auto& key : file_keys(name))
            EXPECT_TRUE(known.contains(key)) << name << ": " << key;
}

TEST(ConfigSchema, EveryKeyIsExplainedInASentence) {
    simdjson::dom::parser parser;
    const simdjson::padded_string text{json_schema()};
    const element schema = parser.parse(text).value();
    const auto check = [](const auto& self, const element& at) -> void {
        simdjson::dom::object object;
        simdjson::dom::array array;
        if (!at["properties"].get(object))
            for (const auto& [key, value] : object) {
                std::string_view sentence;
                EXPECT_FALSE(value["description"].get(sentence)) << key;
                EXPECT_TRUE(sentence.ends_with(".")) << key << ": " << sentence;
            }
        if (!at.get(object))
            for (const auto& [key, value] : object)
                self(self, value);
        if (!at.get(array))
            for (const auto& value : array)
                self(self, value);
    };
    check(check, schema["properties"]);
}

TEST(ConfigSchema, StatesDefaultsRangesAndRequiredKeys) {
    simdjson::dom::parser parser;
    const simdjson::padded_string text{json_schema()};
    const element schema = parser.parse(text).value();
    const element server = schema["properties"]["server"];
    EXPECT_EQ(server["required"].at(0).get_string().value(), "listen");
    EXPECT_EQ(server["properties"]["workers"]["default"].get_string().value(), "auto");
    const element limits = server["properties"]["limits"]["properties"];
    EXPECT_EQ(limits["body"]["default"].get_string().value(), "32MiB");
    EXPECT_EQ(limits["header_timeout"]["anyOf"].at(0)["x-range"].get_string().value(), "1ms to 24h");
    EXPECT_EQ(limits["connections"]["anyOf"].at(0)["maximum"].get_uint64().value(), 10'000'000U);
    const element pool = schema["properties"]["pools"]["additionalProperties"];
    EXPECT_EQ(pool["required"].get_array().value().size(), 4U);
    EXPECT_EQ(pool["properties"]["engine"]["anyOf"].at(0)["enum"].at(2).get_string().value(), "llamacpp");
    EXPECT_FALSE(pool["properties"]["on_drift"]["default"].is_string());
}

}  // namespace
}  // namespace weir::config
