// Node: one value of a parsed configuration file (null, scalar, sequence or map) that knows where it stands.
// Invariant: a tree is built once and then immutable; a child points to its parent, so a tree is moved only through
// its owning Document. Lines and columns are 1-based. Safe to read from many threads.
#pragma once

#include "base/problems.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::base {

struct Position {
    int line = 0;
    int column = 0;
    friend auto operator<=>(const Position&, const Position&) = default;
};

enum class NodeKind : std::uint8_t { null, scalar, sequence, map };

// "nothing", "a value", "a list", "a map": for messages.
[[nodiscard]] std::string_view describe(NodeKind kind) noexcept;

class Node {
public:
    [[nodiscard]] NodeKind kind() const noexcept { return kind_; }
    [[nodiscard]] bool is_null() const noexcept { return kind_ == NodeKind::null; }
    [[nodiscard]] bool is_scalar() const noexcept { return kind_ == NodeKind::scalar; }
    [[nodiscard]] bool is_sequence() const noexcept { return kind_ == NodeKind::sequence; }
    [[nodiscard]] bool is_map() const noexcept { return kind_ == NodeKind::map; }

    // Where the value starts.
    [[nodiscard]] Position position() const noexcept { return position_; }
    // Where its key starts; the value's own position when it has no key.
    [[nodiscard]] Position key_position() const noexcept { return key_.empty() ? position_ : key_position_; }
    // Its key in the map around it; "" for list items and the root.
    [[nodiscard]] const std::string& key() const noexcept { return key_; }
    // "pools.chat.replicas[0]"; "" for the root.
    [[nodiscard]] std::string path() const;

    // The scalar's text as written, quotes and escapes undone; "" when this is not a scalar.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

    // List items, or the values of a map in file order (each knows its key()).
    [[nodiscard]] std::span<const Node> children() const noexcept { return children_; }
    // The value of a map's key; nullptr when absent or when this is not a map. Linear in the map's size.
    [[nodiscard]] const Node* find(std::string_view key) const noexcept;

private:
    friend class NodeEditor;
    NodeKind kind_ = NodeKind::null;
    Position position_;
    Position key_position_;
    std::string key_;
    std::string text_;
    std::vector<Node> children_;
    const Node* parent_ = nullptr;
};

// A file's tree and its name. Moving it does not move the nodes.
class Document {
public:
    // Takes a finished tree and tells every child who its parent is.
    Document(std::string file, Node root);
    [[nodiscard]] const std::string& file() const noexcept { return file_; }
    [[nodiscard]] const Node& root() const noexcept { return *root_; }

    // A problem with the value, or with its key.
    [[nodiscard]] Problem problem_at(const Node& node, std::string message) const;
    [[nodiscard]] Problem problem_at_key(const Node& node, std::string message) const;
    // A problem with a key that the map does not have: at the map's own key.
    [[nodiscard]] Problem problem_missing(const Node& map, std::string_view key, std::string message) const;
    // A problem with what a path of keys and list indices ("0", "1", ...) leads to. When the file does not go that far,
    // the position is that of the last key that exists; the path shown is always the whole one. A map is shown at its
    // key.
    [[nodiscard]] Problem problem_at(std::span<const std::string> path, std::string message) const;

private:
    std::string file_;
    std::unique_ptr<Node> root_;
};

// The only way to write nodes; for readers of file formats.
class NodeEditor {
public:
    [[nodiscard]] static Node make(NodeKind kind, Position position, std::string text = {});
    static void set_key(Node& node, std::string key, Position position);
    [[nodiscard]] static std::vector<Node>& children(Node& node) noexcept { return node.children_; }
    static void link(Node& parent) noexcept;  // children, and their children, learn their parent
};

}  // namespace weir::base
