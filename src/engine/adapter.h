// Adapter: what the gateway must know of an engine family to speak with it. A constant table, one row a family; pure.
// Source: facts/engines.md sections 1.6, 2, 5; facts/llamacpp-wire.md. What depends on the version is in
// capabilities.h.
#pragma once

#include "config/pool.h"
#include "model/endpoint.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weir::engine {

struct Adapter {
    config::Engine engine{};

    // A stream tells its token counts only when stream_options.include_usage asks for it. llama.cpp: false, `timings`
    // on the finish event tell the same, and asking for usage moves them to another event.
    bool needs_include_usage = true;

    // The usage of an answer with several choices counts all of them. llama.cpp: false, it tells that of one.
    bool usage_counts_all_choices = true;

    // Root members of responses and stream events that are the engine's own business (speculative statistics, timings,
    // versions, internal addresses); removed unless the caller has the debug permission.
    std::span<const std::string_view> private_members;

    // The attempt's id is always sent as X-Request-Id; an engine that ignores that header takes it as this root member
    // of the request body. "" = the header is enough, or nothing helps.
    std::string_view request_id_member;

    // Request headers that change what the engine does behind the gateway's back. Lower case. Never sent, whatever an
    // allow-list says.
    std::span<const std::string_view> withheld_headers;

    // Tokens in the first content event of a stream when nothing tells; nullopt = TPOT is then absent.
    std::optional<std::uint64_t> tokens_in_first_event;

    // Endpoints that the family serves, where the configuration does not say.
    model::EndpointSet endpoints;

    // Probes, "" = the family has none. A health path that is also the model list needs the credential.
    std::string_view health_path;
    std::string_view models_path;
    std::string_view version_path;  // {"version": …}
    std::string_view properties_path;  // version, slots, context, speculation
};

[[nodiscard]] const Adapter& adapter_for(config::Engine engine) noexcept;

}  // namespace weir::engine
