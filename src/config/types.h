// Types of single values in the configuration, each with its range. A type is a value to put into a table's line.
// Ranges are inclusive; every refusal says what is accepted.
#pragma once

#include "base/sha256.h"
#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "config/schema.h"
#include "config/secret.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::config {

template <class V>
struct Range {
    V min;
    V max;
};

[[nodiscard]] Type<bool> boolean();
[[nodiscard]] Type<std::int64_t> integer(Range<std::int64_t> range);
[[nodiscard]] Type<std::uint32_t> count(Range<std::uint32_t> range);
[[nodiscard]] Type<std::uint64_t> tokens(Range<std::uint64_t> range);
[[nodiscard]] Type<double> number(Range<double> range);
[[nodiscard]] Type<double> percent();
[[nodiscard]] Type<base::Nanoseconds> duration(Range<base::Nanoseconds> range);
[[nodiscard]] Type<std::uint64_t> size(Range<std::uint64_t> range);
[[nodiscard]] Type<base::Rate> rate();
[[nodiscard]] Type<std::chrono::sys_days> date();
[[nodiscard]] Type<base::HostPort> host_port();
// Any text of 1..4096 bytes without control characters.
[[nodiscard]] Type<std::string> text();
// A name: what becomes a label or a reference to another name.
[[nodiscard]] Type<std::string> name();
// Text that never shows in a message; 1..64 KiB.
[[nodiscard]] Type<Secret> secret();
[[nodiscard]] Type<base::Sha256Digest> sha256_digest();
// The same as lower-case text.
[[nodiscard]] Type<std::string> sha256_text();

// A value given as one word out of a few, with a suggestion for misspelt ones.
template <class E>
using Choices = std::vector<std::pair<std::string_view, E>>;

// Reports a word that is none of `words`.
bool refuse_choice(Reader& reader, const base::Node& node, const Scalar& scalar,
                   const std::vector<std::string_view>& words);
void write_choice_schema(base::JsonWriter& json, const std::vector<std::string_view>& words);
// Text as JSON, for defaults.
[[nodiscard]] std::string as_json(std::string_view text);

template <class E>
[[nodiscard]] Type<E> choice(Choices<E> choices) {
    std::vector<std::string_view> words;
    for (const auto& [word, value] : choices)
        words.push_back(word);
    const auto read = [choices, words](Reader& reader, const base::Node& node, E& out) {
        const auto scalar = reader.scalar(node, base::join_or(words));
        if (!scalar) return false;
        const auto found =
            std::ranges::find(choices, std::string_view{scalar->text}, &std::pair<std::string_view, E>::first);
        if (found == choices.end()) return refuse_choice(reader, node, *scalar, words);
        out = found->second;
        return true;
    };
    const auto show = [choices](const E& value) -> std::optional<std::string> {
        for (const auto& [word, candidate] : choices)
            if (candidate == value) return as_json(word);
        return std::nullopt;
    };
    return {
        .read = read, .schema = [words](base::JsonWriter& json) { write_choice_schema(json, words); }, .show = show};
}

// An enumeration that has name_of().
template <class E, std::size_t N>
[[nodiscard]] Choices<E> named_choices(const std::array<E, N>& all) {
    Choices<E> choices;
    for (const E value : all)
        choices.emplace_back(name_of(value), value);
    return choices;
}

// A list of such words as a set with add().
template <class Set, class E>
[[nodiscard]] Type<Set> set_of(Choices<E> choices) {
    const auto item = choice(std::move(choices));
    const auto read = [read = item.read](Reader& reader, const base::Node& node, Set& out) {
        return read_items(reader, node, [&](const base::Node& child) {
            E value{};
            if (!read(reader, child, value)) return false;
            out.add(value);
            return true;
        });
    };
    return {.read = read, .schema = list(item).schema, .show = [](const Set&) { return std::nullopt; }};
}

}  // namespace weir::config
