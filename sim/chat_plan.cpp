#include "sim/chat_plan.h"

#include "sim/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weir::sim {
namespace {

std::optional<ApiError> refusal(const ChatRequest& request, const ServedModel& served) {
    if (!request.model.empty() && request.model != served.name) return unknown_model(request.model);
    if (served.speculating && (request.uses_min_p || request.uses_logit_bias))
        return bad_request(
            "The min_p and logit_bias sampling parameters are not yet supported with speculative decoding.");
    const int output = request.max_output_tokens.value_or(1);
    if (request.min_tokens > output && request.max_output_tokens)
        return bad_request(
            fmt::format("min_tokens must be less than or equal to max_tokens={}, got {}.", output, request.min_tokens),
            "min_tokens");
    if (request.prompt_tokens <= served.context_tokens - output) return std::nullopt;
    return bad_request(fmt::format("This model's maximum context length is {} tokens. However, you requested {} output "
                                   "tokens and your prompt contains "
                                   "at least {} input tokens, for a total of at least {} tokens. Please reduce the "
                                   "length of the input prompt or the "
                                   "number of requested output tokens.",
                                   served.context_tokens, output, request.prompt_tokens,
                                   static_cast<long long>(request.prompt_tokens) + output),
                       "input_tokens");
}

ChoicePlan plan_choice(const ChatRequest& request, const ServedModel& served, int index) {
    ChoicePlan plan;
    plan.script = mix(hash_text(request.prompt) ^ mix(served.seed) ^ static_cast<std::uint64_t>(index));
    plan.spec.prompt_tokens = request.prompt_tokens;
    plan.spec.max_output_tokens = request.max_output_tokens.value_or(served.context_tokens - request.prompt_tokens);
    if (!request.ignore_eos) plan.spec.natural_length = std::max(natural_length(plan.script), request.min_tokens);
    const int longest =
        std::min(plan.spec.max_output_tokens, plan.spec.natural_length.value_or(plan.spec.max_output_tokens));
    plan.stop = find_stop(plan.script, longest, request.stop);
    if (plan.stop) plan.spec.natural_length = plan.stop->tokens;
    for (const auto& stop : request.stop)
        plan.held_back = std::max(plan.held_back, stop.size() - 1);
    return plan;
}

}  // namespace

Outcome<ChatPlan> plan_chat(ChatRequest request, const ServedModel& served) {
    if (auto refused = refusal(request, served)) return std::unexpected{*std::move(refused)};
    ChatPlan plan;
    for (int i = 0; i < request.n; ++i)
        plan.choices.push_back(plan_choice(request, served, i));
    plan.request = std::move(request);
    return plan;
}

}  // namespace weir::sim
