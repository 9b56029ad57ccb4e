// Named: things with a name, in file order, found by name or synonym in constant time.
// Invariant: every name leads to one item; the caller has refused duplicates before (the first one wins).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::config {

// T has a member `name`.
template <class T>
class Named {
public:
    T& add(T item) {
        index_.try_emplace(item.name, items_.size());
        return items_.emplace_back(std::move(item));
    }
    // Makes items()[index] known under another name too.
    void add_synonym(std::string name, std::size_t index) { index_.try_emplace(std::move(name), index); }

    [[nodiscard]] const T* find(std::string_view name) const noexcept {
        const auto at = index_.find(name);
        return at == index_.end() ? nullptr : &items_[at->second];
    }
    [[nodiscard]] const std::vector<T>& items() const noexcept { return items_; }
    [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
    [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return items_[index]; }
    [[nodiscard]] auto begin() const noexcept { return items_.begin(); }
    [[nodiscard]] auto end() const noexcept { return items_.end(); }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
    };
    std::vector<T> items_;
    std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> index_;
};

}  // namespace weir::config
