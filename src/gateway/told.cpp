#include "gateway/told.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace weir::gateway {

std::string decision_text(const model::DecisionRecord& decision) {
    std::string text{decision.chosen_by};
    std::string_view separator = text.empty() ? "" : "; ";
    if (decision.inflight_at_dispatch)
        text.append(std::exchange(separator, "; ")).append(fmt::format("in_flight={}", *decision.inflight_at_dispatch));
    for (const auto& excluded : decision.excluded)
        text.append(std::exchange(separator, "; "))
            .append(excluded.pool)
            .append("=")
            .append(model::text_of(excluded.reason, excluded.parameter));
    return text;
}

}  // namespace weir::gateway
