#include "engine/adapter.h"

#include <array>

namespace weir::engine {

namespace {

using config::Engine;
using model::Endpoint;

// `metrics` and `output_token_metrics` are per-request statistics, speculative ones included (engines.md 1.6);
// `kv_transfer_params` holds addresses and block ids of the engine's own peers (2.4); `system_fingerprint` spells the
// engine's version and parallelism (2.4, 5.3).
constexpr std::array<std::string_view, 4> vllm_private{"metrics", "output_token_metrics", "kv_transfer_params",
                                                       "system_fingerprint"};
// `meta_info` carries the per-request speculative statistics (5.2).
constexpr std::array<std::string_view, 2> sglang_private{"meta_info", "system_fingerprint"};
// `timings` carries draft counts and speeds (5.3); `__verbose` repeats the prompt and every setting when the server
// runs with verbose logging.
constexpr std::array<std::string_view, 3> llamacpp_private{"timings", "__verbose", "system_fingerprint"};
constexpr std::array<std::string_view, 1> openai_private{"system_fingerprint"};

// These choose the data-parallel rank or the router's target (2.3, 5.2).
constexpr std::array<std::string_view, 1> vllm_withheld{"x-data-parallel-rank"};
constexpr std::array<std::string_view, 2> sglang_withheld{"x-data-parallel-rank", "x-smg-routing-key"};
// This makes generation survive the client's disconnect (llamacpp-wire.md, "Cancellation").
constexpr std::array<std::string_view, 1> llamacpp_withheld{"x-conversation-id"};

constexpr model::EndpointSet set_of(std::initializer_list<Endpoint> endpoints) noexcept {
    model::EndpointSet set;
    for (const Endpoint endpoint : endpoints)
        set.add(endpoint);
    return set;
}

// What a server of a generating model answers; embeddings, rerank and score need another model and are configured.
constexpr model::EndpointSet generating = set_of(
    {Endpoint::chat_completions, Endpoint::completions, Endpoint::responses, Endpoint::messages, Endpoint::tokenize});

constexpr Adapter vllm{
    .engine = Engine::vllm,
    .needs_include_usage = true,
    .usage_counts_all_choices = true,
    .private_members = vllm_private,
    .request_id_member = {},
    .withheld_headers = vllm_withheld,
    .tokens_in_first_event = 1,
    .endpoints = generating,
    .health_path = "/health",
    .models_path = "/v1/models",
    .version_path = "/version",
    .properties_path = {},
};

constexpr Adapter sglang{
    .engine = Engine::sglang,
    .needs_include_usage = true,
    .usage_counts_all_choices = true,
    .private_members = sglang_private,
    .request_id_member = "rid",
    .withheld_headers = sglang_withheld,
    .tokens_in_first_event = std::nullopt,
    .endpoints = generating,
    .health_path = "/health",
    .models_path = "/v1/models",
    .version_path = {},
    .properties_path = "/server_info",
};

constexpr Adapter llamacpp{
    .engine = Engine::llamacpp,
    .needs_include_usage = false,
    .usage_counts_all_choices = false,
    .private_members = llamacpp_private,
    .request_id_member = {},
    .withheld_headers = llamacpp_withheld,
    .tokens_in_first_event = 1,
    .endpoints = generating,
    .health_path = "/health",
    .models_path = "/v1/models",
    .version_path = {},
    .properties_path = "/props",
};

// Any server of the OpenAI API. It need not have a health endpoint; the list of models is the one cheap question that
// every such server answers.
constexpr Adapter openai{
    .engine = Engine::openai,
    .needs_include_usage = true,
    .usage_counts_all_choices = true,
    .private_members = openai_private,
    .request_id_member = {},
    .withheld_headers = {},
    .tokens_in_first_event = std::nullopt,
    .endpoints = set_of({Endpoint::chat_completions, Endpoint::completions}),
    .health_path = "/v1/models",
    .models_path = "/v1/models",
    .version_path = {},
    .properties_path = {},
};

}  // namespace

const Adapter& adapter_for(Engine engine) noexcept {
    switch (engine) {
        case Engine::vllm: return vllm;
        case Engine::sglang: return sglang;
        case Engine::llamacpp: return llamacpp;
        case Engine::openai: return openai;
    }
    return openai;
}

}  // namespace weir::engine
