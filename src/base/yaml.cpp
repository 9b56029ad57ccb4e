#include "base/yaml.h"

#include "base/text.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::base {

namespace {

// Ends the parse; yaml-cpp has no other way to stop it.
struct Refusal {
    Position position;
    std::string path;
    std::string message;
};

Position position_of(const YAML::Mark& mark) noexcept { return {.line = mark.line + 1, .column = mark.column + 1}; }

struct Measure {
    std::size_t nodes = 1;
    int height = 1;
};

Measure measure(const Node& node) {
    Measure whole;
    for (const auto& child : node.children()) {
        const auto part = measure(child);
        whole.nodes += part.nodes;
        whole.height = std::max(whole.height, part.height + 1);
    }
    return whole;
}

// Receives yaml-cpp's events and builds the tree. A frame is a list or map that has begun and not ended.
class Builder final : public YAML::EventHandler {
public:
    Builder(const YamlLimits& limits, const std::string& file, Problems& problems)
        : limits_{limits}, file_{file}, problems_{problems} {}

    [[nodiscard]] Node take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (seen_) throw Refusal{position_of(mark), "", "a second document starts here; a file holds one"};
        seen_ = true;
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (key_due()) refuse(position_of(mark), "a key must be a plain name");
        finish(NodeEditor::make(NodeKind::null, position_of(mark)), anchor);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override;
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        begin(NodeKind::sequence, mark, tag, anchor);
    }
    void OnSequenceEnd() override { end(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        begin(NodeKind::map, mark, tag, anchor);
    }
    void OnMapEnd() override { end(); }

private:
    struct Frame {
        Node node;
        YAML::anchor_t anchor = 0;
        bool has_key = false;
        std::string key;
        Position key_position;
    };

    [[nodiscard]] bool key_due() const { return !open_.empty() && open_.back().node.is_map() && !open_.back().has_key; }
    [[nodiscard]] std::string path() const;
    [[noreturn]] void refuse(Position position, std::string message) const {
        throw Refusal{position, path(), std::move(message)};
    }
    void check_tag(const YAML::Mark& mark, const std::string& tag) const;
    void count(Position position, std::size_t nodes);
    void begin(NodeKind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor);
    void end();
    void finish(Node node, YAML::anchor_t anchor);
    void take_key(const Node& node);
    void merge(Node& map);
    void drop_duplicates(Node& map);

    YamlLimits limits_;
    const std::string& file_;
    Problems& problems_;
    std::vector<Frame> open_;
    std::unordered_map<YAML::anchor_t, Node> anchors_;
    std::size_t nodes_ = 0;
    Node root_ = NodeEditor::make(NodeKind::null, {1, 1});
    bool seen_ = false;
};

std::string Builder::path() const {
    std::string path;
    for (const auto& frame : open_) {
        if (frame.node.is_sequence())
            path += fmt::format("[{}]", frame.node.children().size());
        else if (frame.has_key)
            path += (path.empty() ? "" : ".") + frame.key;
    }
    return path;
}

void Builder::check_tag(const YAML::Mark& mark, const std::string& tag) const {
    const bool ordinary = tag.empty() || tag == "?" || tag == "!" || tag.starts_with("tag:yaml.org,2002:");
    if (!ordinary)
        refuse(position_of(mark),
               "the tag " + quoted(tag) + " has no meaning here; use ${NAME} or {file: PATH} to refer to secrets");
}

void Builder::count(Position position, std::size_t nodes) {
    nodes_ += nodes;
    if (nodes_ > limits_.nodes)
        refuse(position, fmt::format("more than {} values, copies through aliases included", limits_.nodes));
}

void Builder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       const std::string& value) {
    const auto position = position_of(mark);
    check_tag(mark, tag);
    if (value.size() > limits_.scalar_bytes)
        refuse(position, fmt::format("a value longer than {} bytes", limits_.scalar_bytes));
    auto node = NodeEditor::make(NodeKind::scalar, position, value);
    if (!key_due()) return finish(std::move(node), anchor);
    if (anchor != 0) anchors_.insert_or_assign(anchor, node);
    take_key(node);
}

void Builder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
    const auto position = position_of(mark);
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(position, "an alias inside the value that it stands for");
    const auto size = measure(found->second);
    if (static_cast<int>(open_.size()) + size.height > limits_.depth)
        refuse(position, fmt::format("nested deeper than {} levels", limits_.depth));
    count(position, size.nodes);
    auto copy = found->second;
    if (!key_due()) return finish(std::move(copy), 0);
    if (!copy.is_scalar()) refuse(position, "a key must be a plain name");
    take_key(NodeEditor::make(NodeKind::scalar, position, copy.text()));
}

void Builder::take_key(const Node& node) {
    auto& frame = open_.back();
    frame.has_key = true;
    frame.key = node.text();
    frame.key_position = node.position();
    if (frame.key.empty()) refuse(node.position(), "a key must not be empty");
}

void Builder::begin(NodeKind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const auto position = position_of(mark);
    check_tag(mark, tag);
    if (key_due()) refuse(position, "a key must be a plain name");
    if (static_cast<int>(open_.size()) >= limits_.depth)
        refuse(position, fmt::format("nested deeper than {} levels", limits_.depth));
    open_.push_back(
        {.node = NodeEditor::make(kind, position), .anchor = anchor, .has_key = false, .key = {}, .key_position = {}});
}

void Builder::end() {
    auto frame = std::move(open_.back());
    open_.pop_back();
    if (frame.node.is_map()) {
        drop_duplicates(frame.node);
        merge(frame.node);
    }
    finish(std::move(frame.node), frame.anchor);
}

// A complete value goes into the list or map around it.
void Builder::finish(Node node, YAML::anchor_t anchor) {
    count(node.position(), 1);
    NodeEditor::set_key(node, {}, {});
    if (anchor != 0) {
        count(node.position(), measure(node).nodes);
        anchors_.insert_or_assign(anchor, node);
    }
    if (open_.empty()) {
        root_ = std::move(node);
        return;
    }
    auto& frame = open_.back();
    if (frame.node.is_map()) {
        // yaml-cpp places a missing value at whatever comes next, which may be lines further down.
        if (node.is_null()) node = NodeEditor::make(NodeKind::null, frame.key_position);
        NodeEditor::set_key(node, std::exchange(frame.key, {}), frame.key_position);
    }
    frame.has_key = false;
    NodeEditor::children(frame.node).push_back(std::move(node));
}

// Of equal keys the first stays.
void Builder::drop_duplicates(Node& map) {
    std::unordered_map<std::string, int> first_line;
    std::erase_if(NodeEditor::children(map), [&](const Node& child) {
        const auto [at, fresh] = first_line.try_emplace(child.key(), child.key_position().line);
        if (fresh) return false;
        auto where = path();
        where += (where.empty() ? "" : ".") + child.key();
        problems_.add({file_, child.key_position().line, child.key_position().column, std::move(where),
                       fmt::format("duplicate key; it is already given in line {}", at->second)});
        return true;
    });
}

// `<<: *defaults` or `<<: [*a, *b]`: keys that the map does not have itself are taken from there, the first source
// wins.
void Builder::merge(Node& map) {
    auto& children = NodeEditor::children(map);
    const auto at = std::ranges::find(children, "<<", &Node::key);
    if (at == children.end()) return;
    auto source = std::move(*at);
    children.erase(at);
    const auto position = source.key_position();
    std::vector<Node> sources;
    if (source.is_sequence())
        sources = std::move(NodeEditor::children(source));
    else
        sources.push_back(std::move(source));
    for (auto& from : sources) {
        if (!from.is_map()) refuse(position, "<< takes a map, or a list of maps");
        for (auto& child : NodeEditor::children(from))
            if (map.find(child.key()) == nullptr) children.push_back(std::move(child));
    }
}

Problem problem_in_text(const std::string& file, std::string_view text, std::size_t offset, std::string message) {
    const auto before = text.substr(0, offset);
    const auto line = std::ranges::count(before, '\n') + 1;
    const auto line_start = before.rfind('\n') + 1;  // npos + 1 = 0: the first line
    return {file, static_cast<int>(line), static_cast<int>(offset - line_start) + 1, "", std::move(message)};
}

// What yaml-cpp would take in silence or in surprising ways: other encodings, control characters, enormous files.
std::optional<Problem> refuse_text(const std::string& file, std::string_view text, const YamlLimits& limits) {
    if (text.size() > limits.file_bytes)
        return Problem{file, 0, 0, "", fmt::format("larger than {} bytes", limits.file_bytes)};
    const std::size_t valid = valid_utf8_prefix(text);
    if (valid < text.size()) return problem_in_text(file, text, valid, "not valid UTF-8");
    const auto control = std::ranges::find_if(text, [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F;
    });
    if (control == text.end()) return std::nullopt;
    return problem_in_text(file, text, static_cast<std::size_t>(control - text.begin()),
                           "a control character; is this a text file?");
}

}  // namespace

std::optional<Document> parse_yaml(std::string_view text, std::string file, Problems& problems,
                                   const YamlLimits& limits) {
    if (auto refused = refuse_text(file, text, limits)) {
        problems.add(std::move(*refused));
        return std::nullopt;
    }
    Builder builder{limits, file, problems};
    try {
        std::istringstream stream{std::string{text}};
        YAML::Parser parser{stream};
        while (parser.HandleNextDocument(builder)) {}
    } catch (Refusal& refusal) {
        problems.add({file, refusal.position.line, refusal.position.column, std::move(refusal.path),
                      std::move(refusal.message)});
        return std::nullopt;
    } catch (const YAML::Exception& error) {
        const auto position = position_of(error.mark);
        problems.add({file, position.line, position.column, "", "not valid YAML: " + error.msg});
        return std::nullopt;
    }
    auto root = builder.take();
    return Document{std::move(file), std::move(root)};
}

}  // namespace weir::base
