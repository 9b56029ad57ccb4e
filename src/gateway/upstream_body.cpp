#include "gateway/upstream_body.h"

#include <algorithm>

namespace weir::gateway {

UpstreamBody::UpstreamBody(std::string_view body, const Inspected& inspected, std::string_view model_json,
                           bool ask_for_usage)
    : added_usage_{ask_for_usage && inspected.stream && !inspected.include_usage_asked} {
    base::InlineVector<Edit, 2> edits;
    Edit model{inspected.model_value.begin, inspected.model_value.end, model_json};
    if (added_usage_) {
        const auto& options = inspected.stream_options;
        if (!options.present()) {
            model_and_options_.append(model_json).append(R"(,"stream_options":{"include_usage":true})");
            model.replacement = model_and_options_;
        } else if (!inspected.stream_options_is_object) {
            edits.push_back({options.begin, options.end, R"({"include_usage":true})"});
        } else if (inspected.include_usage.present()) {
            edits.push_back({inspected.include_usage.begin, inspected.include_usage.end, "true"});
        } else {
            const std::string_view member =
                inspected.stream_options_is_empty ? R"("include_usage":true)" : R"("include_usage":true,)";
            edits.push_back({options.end, options.end, member});
        }
    }
    edits.push_back(model);
    std::ranges::sort(edits, {}, &Edit::begin);
    splice(body, edits, 0, slices_);
}

std::size_t UpstreamBody::bytes() const noexcept { return total_bytes(slices_); }

}  // namespace weir::gateway
