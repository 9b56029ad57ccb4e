// ChatPlan: a chat request as the engine is to run it, or the refusal that vLLM would give. Pure.
// The same prompt and seed always get the same words, so a retry can be compared with what it replaces.
#pragma once

#include "engine_model/engine.h"
#include "sim/api_error.h"
#include "sim/chat_request.h"
#include "sim/script.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::sim {

// What this process pretends to serve.
struct ServedModel {
    std::string name;
    std::string version;      // of the engine it stands for: "0.22.0"
    std::string fingerprint;  // of every answer; says weir-sim
    int context_tokens = 0;
    bool speculating = false;
    std::uint64_t seed = 0;
};

struct ChoicePlan {
    engine_model::RequestSpec spec;
    std::uint64_t script = 0;
    std::optional<StopPoint> stop{};
    std::size_t held_back = 0;  // bytes, while a stop string could still begin
};

struct ChatPlan {
    ChatRequest request;
    std::vector<ChoicePlan> choices;
};

[[nodiscard]] Outcome<ChatPlan> plan_chat(ChatRequest request, const ServedModel& served);

}  // namespace weir::sim
