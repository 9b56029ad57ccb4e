#include "gateway/selection_message.h"

#include <fmt/format.h>

namespace weir::gateway {

using model::Reason;

std::string refusal_message(const routing::Refusal& refusal, const Alias& alias) {
    const auto& name = alias.config->name;
    switch (refusal.reason) {
        case Reason::unsupported_parameter:
            return fmt::format("No pool of '{}' can honour '{}'; leave it out or use another model.", name,
                               refusal.parameter);
        case Reason::context_length_exceeded:
            return alias.config->context_tokens
                       ? fmt::format(
                             "The prompt and the requested output do not fit the {} tokens of '{}'; ask for fewer.",
                             *alias.config->context_tokens, name)
                       : fmt::format(
                             "The prompt and the requested output do not fit any pool of '{}'; ask for fewer tokens.",
                             name);
        case Reason::region_not_allowed:
            return fmt::format("No pool of '{}' stands in a region that your tenant allows.", name);
        case Reason::data_policy_not_allowed:
            return fmt::format("No pool of '{}' meets the data policies that your tenant requires.", name);
        case Reason::pools_unhealthy:
            return fmt::format("No replica of '{}' is healthy at the moment; try again shortly.", name);
        case Reason::endpoint_not_supported: return fmt::format("No pool of '{}' serves this endpoint.", name);
        default: return fmt::format("No pool of '{}' can serve this request at the moment.", name);
    }
}

}  // namespace weir::gateway
