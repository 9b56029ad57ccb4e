#include "base/node.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace weir::base {

std::string_view describe(NodeKind kind) noexcept {
    switch (kind) {
        case NodeKind::null: return "nothing";
        case NodeKind::scalar: return "a single value";
        case NodeKind::sequence: return "a list";
        case NodeKind::map: return "a map";
    }
    return "nothing";
}

namespace {

std::string joined(std::string path, std::string_view key) {
    if (!path.empty()) path += '.';
    return path += key;
}

// The child that one step of a path leads to: a key of a map, an index of a list.
const Node* step(const Node& node, std::string_view name) noexcept {
    if (!node.is_sequence()) return node.find(name);
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (error != std::errc{} || end != name.data() + name.size() || index >= node.children().size()) return nullptr;
    return &node.children()[index];
}

}  // namespace

std::string Node::path() const {
    if (parent_ == nullptr) return {};
    auto path = parent_->path();
    if (parent_->is_sequence()) return path + fmt::format("[{}]", this - parent_->children_.data());
    return joined(std::move(path), key_);
}

const Node* Node::find(std::string_view key) const noexcept {
    if (!is_map()) return nullptr;
    for (const auto& child : children_)
        if (child.key_ == key) return &child;
    return nullptr;
}

Document::Document(std::string file, Node root)
    : file_{std::move(file)}, root_{std::make_unique<Node>(std::move(root))} {
    NodeEditor::link(*root_);
}

Problem Document::problem_at(const Node& node, std::string message) const {
    return {file_, node.position().line, node.position().column, node.path(), std::move(message)};
}

Problem Document::problem_at_key(const Node& node, std::string message) const {
    return {file_, node.key_position().line, node.key_position().column, node.path(), std::move(message)};
}

Problem Document::problem_missing(const Node& map, std::string_view key, std::string message) const {
    auto problem = problem_at_key(map, std::move(message));
    problem.path = joined(std::move(problem.path), key);
    return problem;
}

Problem Document::problem_at(std::span<const std::string> path, std::string message) const {
    const Node* at = root_.get();
    for (std::size_t i = 0; i < path.size(); ++i) {
        const Node* next = step(*at, path[i]);
        if (next == nullptr) {
            auto rest = path[i];
            for (const auto& name : path.subspan(i + 1))
                rest = joined(std::move(rest), name);
            return problem_missing(*at, rest, std::move(message));
        }
        at = next;
    }
    // What is said about a map as a whole is best shown at its name.
    return at->is_map() ? problem_at_key(*at, std::move(message)) : problem_at(*at, std::move(message));
}

Node NodeEditor::make(NodeKind kind, Position position, std::string text) {
    Node node;
    node.kind_ = kind;
    node.position_ = position;
    node.text_ = std::move(text);
    return node;
}

void NodeEditor::set_key(Node& node, std::string key, Position position) {
    node.key_ = std::move(key);
    node.key_position_ = position;
}

void NodeEditor::link(Node& parent) noexcept {
    for (auto& child : parent.children_) {
        child.parent_ = &parent;
        link(child);
    }
}

}  // namespace weir::base
