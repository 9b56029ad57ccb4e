#include "http/message.h"

#include "http/ascii.h"

#include <algorithm>

namespace weir::http {

std::optional<std::string_view> FieldTable::find(std::string_view name) const noexcept {
    if (!may_hold(name)) return std::nullopt;
    for (const Field& field : fields_) {
        if (equals_ignoring_case(field.name, name)) return field.value;
    }
    return std::nullopt;
}

std::size_t FieldTable::count(std::string_view name) const noexcept {
    if (!may_hold(name)) return 0;
    return static_cast<std::size_t>(
        std::ranges::count_if(fields_, [name](const Field& field) { return equals_ignoring_case(field.name, name); }));
}

}  // namespace weir::http
