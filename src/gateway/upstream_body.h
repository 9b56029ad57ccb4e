// UpstreamBody: the request body as an engine gets it: the client's bytes with `model` replaced by the pool's
// served model and, where the engine needs it, `stream_options.include_usage` set. Source: contract.md, "Byte
// fidelity".
#pragma once

#include "gateway/inspect.h"
#include "gateway/splice.h"

#include <string>
#include <string_view>

namespace weir::gateway {

// The slices point into `body`, `model_json` and this; all outlive their use.
class UpstreamBody {
public:
    // `model_json`: a JSON string, which outlives this. `ask_for_usage`: the engine tells usage of a stream only when
    // asked (engine::Adapter).
    UpstreamBody(std::string_view body, const Inspected& inspected, std::string_view model_json, bool ask_for_usage);
    UpstreamBody(const UpstreamBody&) = delete;
    UpstreamBody& operator=(const UpstreamBody&) = delete;

    [[nodiscard]] const Slices& slices() const noexcept { return slices_; }
    [[nodiscard]] std::size_t bytes() const noexcept;
    // True when Weir set the option, so the usage event is not for the client.
    [[nodiscard]] bool added_usage() const noexcept { return added_usage_; }

private:
    std::string model_and_options_;
    Slices slices_;
    bool added_usage_ = false;
};

}  // namespace weir::gateway
