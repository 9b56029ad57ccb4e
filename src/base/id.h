// Id: a name that cannot be mistaken for another kind of name. Explicit in, no implicit conversion out.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <utility>

namespace weir::base {

template <class Tag>
class Id {
public:
    Id() = default;
    explicit Id(std::string text) : text_{std::move(text)} {}
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
    friend auto operator<=>(const Id&, const Id&) = default;

private:
    std::string text_;
};

}  // namespace weir::base

template <class Tag>
struct std::hash<weir::base::Id<Tag>> {
    std::size_t operator()(const weir::base::Id<Tag>& id) const noexcept { return std::hash<std::string>{}(id.text()); }
};
