// Intrusive lists: nodes carry their own links, so that joining and leaving a list is O(1) and allocates nothing.
// A type may be in several lists at once through links with different tags. A link leaves its list when it dies.
// Threads: one.
#pragma once

#include <utility>

namespace weir::io {

template <class Tag>
class ListLink {
public:
    ListLink() noexcept = default;
    ListLink(const ListLink&) = delete;
    ListLink& operator=(const ListLink&) = delete;
    ~ListLink() { unlink(); }

    [[nodiscard]] bool linked() const noexcept { return next_ != this; }
    void unlink() noexcept {
        previous_->next_ = next_;
        next_->previous_ = previous_;
        previous_ = next_ = this;
    }

private:
    template <class Node, class T>
    friend class IntrusiveList;
    void insert_before(ListLink& position) noexcept {
        previous_ = std::exchange(position.previous_, this);
        next_ = &position;
        previous_->next_ = this;
    }
    ListLink* previous_ = this;
    ListLink* next_ = this;
};

template <class Node, class Tag = Node>
class IntrusiveList {
public:
    [[nodiscard]] bool empty() const noexcept { return !ends_.linked(); }
    // The node must not be in a list of this tag.
    void push_back(Node& node) noexcept { static_cast<ListLink<Tag>&>(node).insert_before(ends_); }
    // nullptr when empty.
    [[nodiscard]] Node* pop_front() noexcept {
        if (empty()) return nullptr;
        ListLink<Tag>& first = *ends_.next_;
        first.unlink();
        return static_cast<Node*>(&first);
    }
    // Moves all nodes of `other` into this list, which is empty.
    void take(IntrusiveList& other) noexcept {
        if (other.empty()) return;
        ends_.insert_before(other.ends_);
        other.ends_.unlink();
    }

private:
    ListLink<Tag> ends_;  // before the first and behind the last node
};

}  // namespace weir::io
