#include "config/reader.h"

#include "base/text.h"

#include <algorithm>
#include <utility>

namespace weir::config {

namespace {

bool is_name_start(char c) noexcept { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }

bool is_variable_name(std::string_view name) noexcept {
    const auto part = [](char c) { return is_name_start(c) || (c >= '0' && c <= '9'); };
    return !name.empty() && is_name_start(name.front()) && std::ranges::all_of(name, part);
}

// `{file: PATH}`, as opposed to any other map.
const base::Node* file_reference(const base::Node& node) noexcept {
    return node.is_map() && node.children().size() == 1 ? node.find("file") : nullptr;
}

}  // namespace

bool Reader::refuse(const base::Node& node, std::string message) {
    problems.add(document.problem_at(node, std::move(message)));
    return false;
}

void Reader::warn(const base::Node& node, std::string message) {
    warnings.add(document.problem_at(node, std::move(message)));
}

void Reader::unknown_key(const base::Node& node, std::span<const std::string_view> known) {
    auto hint = base::suggestion(node.key(), known);
    if (hint.empty()) hint = "; expected " + base::join_or(known);
    problems.add(document.problem_at_key(node, "unknown key" + hint));
}

void Reader::missing_key(const base::Node& map, std::string_view key) {
    problems.add(document.problem_missing(map, key, "this key is required"));
}

std::optional<Scalar> Reader::scalar(const base::Node& node, std::string_view expected) {
    if (node.is_scalar()) return substitute(node);
    if (const auto* path = file_reference(node)) return file_contents(*path);
    const std::string wanted = "expected " + std::string{expected};
    if (node.is_null())
        refuse(node, "no value is given; " + wanted);
    else
        refuse(node, wanted + ", not " + std::string{base::describe(node.kind())});
    return std::nullopt;
}

// `${NAME}` becomes the variable's value, which is not looked at again; `$${` stands for a literal `${`.
std::optional<Scalar> Reader::substitute(const base::Node& node) {
    std::string_view rest = node.text();
    Scalar result{.text = {}, .shown = base::quoted(rest)};
    bool complete = true;
    for (auto at = rest.find("${"); at != std::string_view::npos; at = rest.find("${")) {
        if (at > 0 && rest[at - 1] == '$') {
            result.text.append(rest.substr(0, at - 1)).append("${");
            rest.remove_prefix(at + 2);
            continue;
        }
        const auto end = rest.find('}', at);
        const auto name = rest.substr(at + 2, end == std::string_view::npos ? end : end - at - 2);
        if (end == std::string_view::npos || !is_variable_name(name)) {
            refuse(node, "a reference to the environment looks like ${NAME}; a literal ${ is written $${");
            return std::nullopt;
        }
        const auto value = environment.variable(std::string{name});
        if (!value) complete = refuse(node, "the environment variable " + std::string{name} + " is not set");
        result.text.append(rest.substr(0, at)).append(value.value_or(""));
        result.shown = "the value of ${" + std::string{name} + "}";
        rest.remove_prefix(end + 1);
    }
    if (!complete) return std::nullopt;
    result.text.append(rest);
    return result;
}

std::optional<Scalar> Reader::file_contents(const base::Node& path_node) {
    const auto path = scalar(path_node, "the path of a file");
    if (!path) return std::nullopt;
    const bool relative = !path->text.starts_with('/') && !directory.empty();
    auto contents = environment.file(relative ? directory + "/" + path->text : path->text);
    if (!contents) {
        refuse(path_node, contents.error().message());
        return std::nullopt;
    }
    if (contents->ends_with('\n')) contents->pop_back();
    if (contents->ends_with('\r')) contents->pop_back();
    return Scalar{.text = std::move(*contents), .shown = "the contents of the file"};
}

}  // namespace weir::config
