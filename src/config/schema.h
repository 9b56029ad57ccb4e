// Schema: the tables that say which keys exist. One table a struct, one line a key: name, member, type with its range,
// one sentence. The same tables parse the file and print its JSON Schema; defaults are those of the structs.
// Tables are built once and then only read, from any thread.
#pragma once

#include "base/json_writer.h"
#include "base/node.h"
#include "config/named.h"
#include "config/reader.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weir::config {

// How a value of V is read, described and shown. `read` returns false when it has reported a problem; `schema` writes
// the members of a JSON Schema object; `show` gives the value as JSON, nullopt when it stands for "not stated".
template <class V>
struct Type {
    std::function<bool(Reader&, const base::Node&, V&)> read;
    std::function<void(base::JsonWriter&)> schema;
    std::function<std::optional<std::string>(const V&)> show;
};

template <class T>
struct Field {
    std::string_view name;
    std::string_view sentence;
    bool required = false;
    std::function<bool(Reader&, const base::Node&, T&)> read;
    std::function<void(base::JsonWriter&)> schema;
    std::function<std::optional<std::string>(const T&)> show;
};

template <class T>
using Table = std::vector<Field<T>>;

template <class T, class V>
[[nodiscard]] Field<T> field(std::string_view name, V T::* member, Type<V> type, std::string_view sentence) {
    return {.name = name,
            .sentence = sentence,
            .required = false,
            .read = [member, read = type.read](Reader& reader, const base::Node& node,
                                               T& out) { return read(reader, node, out.*member); },
            .schema = type.schema,
            .show = [member, show = type.show](const T& value) { return show(value.*member); }};
}

template <class T, class V>
[[nodiscard]] Field<T> field(std::string_view name, std::optional<V> T::* member, Type<V> type,
                             std::string_view sentence) {
    const auto read = [member, read = type.read](Reader& reader, const base::Node& node, T& out) {
        const bool good = read(reader, node, (out.*member).emplace());
        // A list or map keeps what is good about it; a single bad value counts as not stated.
        if (!good && node.is_scalar()) (out.*member).reset();
        return good;
    };
    const auto show = [member, show = type.show](const T& value) {
        return value.*member ? show(*(value.*member)) : std::nullopt;
    };
    return {.name = name, .sentence = sentence, .required = false, .read = read, .schema = type.schema, .show = show};
}

template <class T>
[[nodiscard]] Field<T> required(Field<T> field) {
    field.required = true;
    return field;
}

// Nothing at all counts as an empty map, so that a section may be commented out key by key.
template <class T>
bool read_object(Reader& reader, const base::Node& node, const Table<T>& table, T& out) {
    if (!node.is_map() && !node.is_null())
        return reader.refuse(node, "expected a map, not " + std::string{base::describe(node.kind())});
    std::vector<std::string_view> names;
    for (const auto& field : table)
        names.push_back(field.name);
    bool good = true;
    std::vector<bool> seen(table.size());
    for (const auto& child : node.children()) {
        const auto at = static_cast<std::size_t>(std::ranges::find(names, child.key()) - names.begin());
        if (at == table.size()) {
            reader.unknown_key(child, names);
            good = false;
            continue;
        }
        seen[at] = true;
        good = table[at].read(reader, child, out) && good;
    }
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (!table[i].required || seen[i]) continue;
        reader.missing_key(node, table[i].name);
        good = false;
    }
    return good;
}

template <class T>
void write_object_schema(base::JsonWriter& json, const Table<T>& table) {
    const T defaults{};
    json.member("type", "object").member("additionalProperties", false).key("properties").begin_object();
    for (const auto& field : table) {
        json.key(field.name).begin_object().member("description", field.sentence);
        const auto shown = field.required ? std::nullopt : field.show(defaults);
        if (shown) json.key("default").raw(*shown);
        field.schema(json);
        json.end_object();
    }
    json.end_object().key("required").begin_array();
    for (const auto& field : table)
        if (field.required) json.string(field.name);
    json.end_array();
}

// A map with the table's keys.
template <class T>
[[nodiscard]] Type<T> object(const Table<T>& table) {
    return {.read = [&table](Reader& reader, const base::Node& node,
                             T& out) { return read_object(reader, node, table, out); },
            .schema = [&table](base::JsonWriter& json) { write_object_schema(json, table); },
            .show = [](const T&) { return std::nullopt; }};
}

// Calls take(child) for every item of a list; nothing at all counts as an empty one. False when any call was.
template <class Take>
bool read_items(Reader& reader, const base::Node& node, const Take& take) {
    if (!node.is_sequence() && !node.is_null())
        return reader.refuse(node, "expected a list, not " + std::string{base::describe(node.kind())});
    std::unordered_set<std::string_view> seen;
    bool good = true;
    for (const auto& child : node.children()) {
        if (child.is_scalar() && !seen.insert(child.text()).second) reader.warn(child, "listed twice");
        good = take(child) && good;
    }
    return good;
}

// A list. What failed to parse is kept as an empty value, so that the indices stay those of the file.
template <class V>
[[nodiscard]] Type<std::vector<V>> list(Type<V> item) {
    const auto read = [read = item.read](Reader& reader, const base::Node& node, std::vector<V>& out) {
        return read_items(reader, node,
                          [&](const base::Node& child) { return read(reader, child, out.emplace_back()); });
    };
    const auto schema = [schema = item.schema](base::JsonWriter& json) {
        json.member("type", "array").key("items").begin_object();
        schema(json);
        json.end_object();
    };
    return {.read = read, .schema = schema, .show = [](const std::vector<V>&) { return std::nullopt; }};
}

// Says what is wrong with a name that becomes a label, a path segment, part of a log line; "" when nothing is.
[[nodiscard]] std::string name_fault(std::string_view name);
inline constexpr std::string_view name_pattern = "^[A-Za-z0-9_][A-Za-z0-9_./:@+-]{0,127}$";

// A map from names to things. What failed to parse is kept, so that references to it are not problems too.
template <class T>
[[nodiscard]] Type<Named<T>> named(const Table<T>& table) {
    const auto read = [&table](Reader& reader, const base::Node& node, Named<T>& out) {
        if (!node.is_map() && !node.is_null())
            return reader.refuse(node, "expected a map of names, not " + std::string{base::describe(node.kind())});
        bool good = true;
        for (const auto& child : node.children()) {
            const auto fault = name_fault(child.key());
            if (!fault.empty()) {
                reader.problems.add(reader.document.problem_at_key(child, fault));
                good = false;
            }
            T item{};
            item.name = child.key();
            good = read_object(reader, child, table, item) && good;
            out.add(std::move(item));
        }
        return good;
    };
    const auto schema = [&table](base::JsonWriter& json) {
        json.member("type", "object").key("propertyNames").begin_object().member("pattern", name_pattern).end_object();
        json.key("additionalProperties").begin_object();
        write_object_schema(json, table);
        json.end_object();
    };
    return {.read = read, .schema = schema, .show = [](const Named<T>&) { return std::nullopt; }};
}

}  // namespace weir::config
