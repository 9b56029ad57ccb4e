// Secret: text that never prints itself. The only way to read it is reveal(), which is easy to search for.
// It has no stream operator and no formatter on purpose.
#pragma once

#include <string>
#include <utility>

namespace weir::config {

class Secret {
public:
    Secret() = default;
    explicit Secret(std::string text) : text_{std::move(text)} {}
    [[nodiscard]] const std::string& reveal() const noexcept { return text_; }
    [[nodiscard]] bool empty() const noexcept { return text_.empty(); }

private:
    std::string text_;
};

}  // namespace weir::config
