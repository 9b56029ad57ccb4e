#include "config/types.h"

#include "base/hex.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::config {

namespace {

// What one kind of single value is: how it is parsed, shown and described in the JSON Schema.
template <class V>
struct Kind {
    std::string expected;  // completes "expected ..." when there is a list or a map instead
    std::function<base::Result<V>(std::string_view)> parse;
    std::function<std::string(const V&)> json;        // the value as JSON
    std::function<void(base::JsonWriter&)> describe;  // its own schema, references aside
};

// Every single value may also be given by reference, which the schema has to allow.
void write_scalar_schema(base::JsonWriter& json, const std::function<void(base::JsonWriter&)>& describe) {
    json.key("anyOf").begin_array().begin_object();
    describe(json);
    json.end_object().begin_object().member("$ref", "#/$defs/reference").end_object().end_array();
}

std::function<void(base::JsonWriter&)> string_pattern(std::string_view pattern) {
    return [pattern](base::JsonWriter& json) { json.member("type", "string").member("pattern", pattern); };
}

template <class V>
Type<V> single(Kind<V> kind) {
    const auto read = [expected = kind.expected, parse = kind.parse](Reader& reader, const base::Node& node, V& out) {
        const auto scalar = reader.scalar(node, expected);
        if (!scalar) return false;
        auto value = parse(scalar->text);
        if (!value) return reader.refuse(node, value.error().message() + ", not " + scalar->shown);
        out = std::move(*value);
        return true;
    };
    return {.read = read,
            .schema = [describe = kind.describe](base::JsonWriter& json) { write_scalar_schema(json, describe); },
            .show = [json = kind.json](const V& value) { return std::optional{json(value)}; }};
}

// The kind with a range, which JSON Schema can only say in words where the value is a text.
template <class V>
Kind<V> within(Kind<V> kind, Range<V> range) {
    auto bounds = kind.json(range.min) + " to " + kind.json(range.max);
    std::erase(bounds, '"');
    kind.parse = [parse = kind.parse, range, bounds](std::string_view text) -> base::Result<V> {
        auto value = parse(text);
        if (!value || (*value >= range.min && *value <= range.max)) return value;
        return base::fail(base::ErrorCode::invalid_argument, "must be from " + bounds);
    };
    kind.describe = [describe = kind.describe, bounds](base::JsonWriter& json) {
        describe(json);
        json.member("x-range", bounds);
    };
    return kind;
}

template <class V>
Type<V> whole(Range<V> range) {
    const auto parse = [range](std::string_view text) -> base::Result<V> {
        const auto value = base::parse_integer(text);
        if (!value) return std::unexpected{value.error()};
        if (std::cmp_greater_equal(*value, range.min) && std::cmp_less_equal(*value, range.max))
            return static_cast<V>(*value);
        const bool single = range.min == range.max;
        return base::fail(
            base::ErrorCode::invalid_argument,
            single ? fmt::format("must be {}", range.min) : fmt::format("must be from {} to {}", range.min, range.max));
    };
    return single<V>({.expected = "a whole number",
                      .parse = parse,
                      .json = [](const V& value) { return fmt::format("{}", value); },
                      .describe =
                          [range](base::JsonWriter& json) {
                              json.member("type", "integer").member("minimum", range.min).member("maximum", range.max);
                          }});
}

bool has_control_character(std::string_view text) noexcept {
    return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

base::Result<std::string> plain_text(std::string_view text) {
    constexpr std::size_t longest = 4096;
    if (text.empty()) return base::fail(base::ErrorCode::invalid_argument, "expected a text that is not empty");
    if (text.size() > longest)
        return base::fail(base::ErrorCode::invalid_argument, "expected a text of at most 4096 bytes");
    if (has_control_character(text) || !base::is_valid_utf8(text))
        return base::fail(base::ErrorCode::invalid_argument, "expected a text in UTF-8 without control characters");
    return std::string{text};
}

base::Result<base::Sha256Digest> parse_digest(std::string_view text) {
    if (const auto digest = base::sha256_from_hex(text)) return *digest;
    return base::fail(base::ErrorCode::invalid_argument, "expected a SHA-256 as 64 hexadecimal digits");
}

constexpr std::string_view digest_pattern = "^[0-9a-fA-F]{64}$";

std::optional<std::string> show_text(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional{as_json(text)};
}

}  // namespace

std::string as_json(std::string_view text) {
    std::string json;
    base::append_json_string(json, text);
    return json;
}

std::string name_fault(std::string_view name) {
    const auto letter = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    const auto good = [&](char c) { return letter(c) || std::string_view{"./:@+-"}.contains(c); };
    if (!name.empty() && name.size() <= 128 && letter(name.front()) && std::ranges::all_of(name, good)) return {};
    return "expected a name of 1 to 128 letters, digits and _ . / : @ + - that starts with a letter, digit or _";
}

Type<bool> boolean() {
    const auto parse = [](std::string_view text) -> base::Result<bool> {
        if (text == "true") return true;
        if (text == "false") return false;
        return base::fail(base::ErrorCode::invalid_argument, "expected true or false");
    };
    return single<bool>({.expected = "true or false",
                         .parse = parse,
                         .json = [](bool value) { return std::string{value ? "true" : "false"}; },
                         .describe = [](base::JsonWriter& json) { json.member("type", "boolean"); }});
}

Type<std::int64_t> integer(Range<std::int64_t> range) { return whole<std::int64_t>(range); }
Type<std::uint32_t> count(Range<std::uint32_t> range) { return whole<std::uint32_t>(range); }
Type<std::uint64_t> tokens(Range<std::uint64_t> range) { return whole<std::uint64_t>(range); }

Type<double> number(Range<double> range) {
    return single<double>(
        within<double>({.expected = "a number",
                        .parse = base::parse_number,
                        .json = [](double value) { return fmt::format("{}", value); },
                        .describe =
                            [range](base::JsonWriter& json) {
                                json.member("type", "number").member("minimum", range.min).member("maximum", range.max);
                            }},
                       range));
}

Type<double> percent() {
    return single<double>({.expected = "a percentage",
                           .parse = base::parse_percent,
                           .json = [](double value) { return as_json(fmt::format("{}%", value * 100)); },
                           .describe = string_pattern("^[0-9]+(\\.[0-9]+)?%$")});
}

Type<base::Nanoseconds> duration(Range<base::Nanoseconds> range) {
    return single<base::Nanoseconds>(
        within<base::Nanoseconds>({.expected = "a duration",
                                   .parse = base::parse_duration,
                                   .json = [](base::Nanoseconds span) { return as_json(base::format_duration(span)); },
                                   .describe = string_pattern("^[0-9]+(\\.[0-9]+)?(us|ms|s|m|h|d)$")},
                                  range));
}

Type<std::uint64_t> size(Range<std::uint64_t> range) {
    const auto describe = [range](base::JsonWriter& json) {
        json.key("anyOf").begin_array().begin_object().member("type", "integer");
        json.member("minimum", range.min).member("maximum", range.max).end_object();
        json.begin_object()
            .member("type", "string")
            .member("pattern", "^[0-9]+(\\.[0-9]+)?(B|KiB|MiB|GiB|TiB)?$")
            .end_object()
            .end_array();
    };
    return single<std::uint64_t>(
        within<std::uint64_t>({.expected = "a size",
                               .parse = base::parse_size,
                               .json = [](std::uint64_t bytes) { return as_json(base::format_size(bytes)); },
                               .describe = describe},
                              range));
}

Type<base::Rate> rate() {
    const auto parse = [](std::string_view text) -> base::Result<base::Rate> {
        auto value = base::parse_rate(text);
        if (value && value->amount == 0)
            return base::fail(base::ErrorCode::invalid_argument,
                              "must be more than 0 (for no limit leave the key out)");
        return value;
    };
    return single<base::Rate>({.expected = "a rate",
                               .parse = parse,
                               .json = [](const base::Rate& value) { return as_json(base::format_rate(value)); },
                               .describe = string_pattern("^[0-9]+(\\.[0-9]+)?[kMG]?/(s|min|h|day)$")});
}

Type<std::chrono::sys_days> date() {
    return single<std::chrono::sys_days>(
        {.expected = "a date",
         .parse = base::parse_date,
         .json = [](const std::chrono::sys_days& day) { return as_json(base::to_rfc3339(day).substr(0, 10)); },
         .describe = string_pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")});
}

Type<base::HostPort> host_port() {
    auto type = single<base::HostPort>(
        {.expected = "HOST:PORT",
         .parse = base::parse_host_port,
         .json = [](const base::HostPort& address) { return as_json(base::format_host_port(address)); },
         .describe = string_pattern("^.+:[0-9]{1,5}$")});
    return type;
}

Type<std::string> text() {
    auto type =
        single<std::string>({.expected = "a text",
                             .parse = plain_text,
                             .json = [](const std::string& value) { return as_json(value); },
                             // YAML reads an unquoted 123 as a number, which is a good revision or name all the same.
                             .describe =
                                 [](base::JsonWriter& json) {
                                     json.key("type").begin_array().string("string").string("number").end_array();
                                 }});
    type.show = show_text;
    return type;
}

Type<std::string> name() {
    const auto parse = [](std::string_view text) -> base::Result<std::string> {
        auto fault = name_fault(text);
        if (fault.empty()) return std::string{text};
        return base::fail(base::ErrorCode::invalid_argument, std::move(fault));
    };
    auto type = single<std::string>({.expected = "a name",
                                     .parse = parse,
                                     .json = [](const std::string& value) { return as_json(value); },
                                     .describe = string_pattern(name_pattern)});
    type.show = show_text;
    return type;
}

Type<Secret> secret() {
    constexpr std::size_t longest = 64U << 10U;
    const auto read = [](Reader& reader, const base::Node& node, Secret& out) {
        auto scalar = reader.scalar(node, "a text");
        if (!scalar) return false;
        if (scalar->text.empty()) return reader.refuse(node, "the secret is empty");
        if (scalar->text.size() > longest || has_control_character(scalar->text))
            return reader.refuse(node, "the secret must be one line of at most 64 KiB");
        out = Secret{std::move(scalar->text)};
        return true;
    };
    const auto schema = [](base::JsonWriter& json) {
        write_scalar_schema(json, [](base::JsonWriter& inner) { inner.member("type", "string"); });
    };
    const auto show = [](const Secret& value) { return show_text(value.reveal()); };
    return {.read = read, .schema = schema, .show = show};
}

Type<base::Sha256Digest> sha256_digest() {
    auto type = single<base::Sha256Digest>(
        {.expected = "a SHA-256",
         .parse = parse_digest,
         .json = [](const base::Sha256Digest& digest) { return as_json(base::to_hex(digest)); },
         .describe = string_pattern(digest_pattern)});
    return type;
}

Type<std::string> sha256_text() {
    const auto parse = [](std::string_view text) -> base::Result<std::string> {
        const auto digest = parse_digest(text);
        if (!digest) return std::unexpected{digest.error()};
        return base::to_hex(*digest);
    };
    auto type = single<std::string>({.expected = "a SHA-256",
                                     .parse = parse,
                                     .json = [](const std::string& value) { return as_json(value); },
                                     .describe = string_pattern(digest_pattern)});
    type.show = show_text;
    return type;
}

bool refuse_choice(Reader& reader, const base::Node& node, const Scalar& scalar,
                   const std::vector<std::string_view>& words) {
    auto message = "expected " + base::join_or(words) + ", not " + scalar.shown;
    // A suggestion may only follow from text that may be shown.
    if (scalar.shown.starts_with('\'')) message += base::suggestion(scalar.text, words);
    return reader.refuse(node, std::move(message));
}

void write_choice_schema(base::JsonWriter& json, const std::vector<std::string_view>& words) {
    write_scalar_schema(json, [&words](base::JsonWriter& inner) {
        inner.key("enum").begin_array();
        for (const auto word : words)
            inner.string(word);
        inner.end_array();
    });
}

}  // namespace weir::config
