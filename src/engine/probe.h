// What the answers to probes mean. Pure: recorded bytes in, facts out; any bytes are survived, none are trusted.
// Unknown stays unknown: what an answer does not tell is absent.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::engine {

enum class HealthAnswer : std::uint8_t {
    healthy,
    loading,    // the engine says that it is not ready yet (or is scaling, sleeping): not usable from now on
    unhealthy,  // the engine says that it is dead: not usable from now on
    failed,     // no statement of the engine about itself: counts towards unhealthy
};
[[nodiscard]] HealthAnswer interpret_health(int status, std::string_view body);

struct ModelCard {
    std::string id;
    std::string root;      // path or repository; "" = not told
    std::string parent;    // the base model of a LoRA adapter; "" = none
    std::string owned_by;  // "vllm", "llamacpp", …
    std::optional<std::uint64_t> context_tokens;  // vLLM, SGLang: max_model_len; llama.cpp: meta.n_ctx (of one slot)
};
// Errors: protocol when it is not a list of models.
[[nodiscard]] base::Result<std::vector<ModelCard>> parse_models(std::string_view body);

struct Properties {  // llama.cpp /props, SGLang /server_info
    std::string version;
    std::string model_path;
    std::string speculation;  // as the engine spells it: "none,draft-simple", "EAGLE3"; "" = not told
    std::optional<std::uint64_t> context_tokens;  // of one slot
    std::optional<std::uint64_t> slots;           // requests at once
    std::optional<bool> sleeping;
};
[[nodiscard]] base::Result<Properties> parse_llamacpp_properties(std::string_view body);
[[nodiscard]] base::Result<Properties> parse_sglang_server_info(std::string_view body);
// {"version": "0.22.1"}
[[nodiscard]] base::Result<std::string> parse_version_answer(std::string_view body);

// What is known of one replica, from all its probes.
struct Discovery {
    std::string engine_version;          // as the engine spells it; "" = not known
    std::vector<std::string> model_ids;  // empty = not known
    std::string model_path;              // of the first model; "" = not known
    std::string speculation;
    std::optional<std::uint64_t> context_tokens;
    std::optional<std::uint64_t> slots;
    friend bool operator==(const Discovery&, const Discovery&) = default;
};
// Later answers fill in what earlier ones did not tell; properties win over the model list where both tell.
void merge(Discovery& into, const std::vector<ModelCard>& models);
void merge(Discovery& into, const Properties& properties);

}  // namespace weir::engine
