#include "model/feature.h"

namespace weir::model {

std::string_view name_of(Feature feature) noexcept {
    switch (feature) {
        case Feature::tools: return "tools";
        case Feature::structured_output: return "structured_output";
        case Feature::logprobs: return "logprobs";
        case Feature::prompt_logprobs: return "prompt_logprobs";
        case Feature::min_p: return "min_p";
        case Feature::logit_bias: return "logit_bias";
        case Feature::min_tokens: return "min_tokens";
        case Feature::penalties: return "penalties";
        case Feature::multiple_choices: return "n";
        case Feature::best_of: return "best_of";
        case Feature::echo: return "echo";
        case Feature::suffix: return "suffix";
        case Feature::media: return "media";
        case Feature::reasoning: return "reasoning";
        case Feature::encoding_format: return "encoding_format";
        case Feature::dimensions: return "dimensions";
        case Feature::tokenize_prompt: return "tokenize.prompt";
        case Feature::tokenize_messages: return "tokenize.messages";
        case Feature::tokenize_content: return "tokenize.content";
    }
    return "other";
}

std::optional<Feature> feature_from_name(std::string_view name) noexcept {
    for (const Feature feature : all_features)
        if (name_of(feature) == name) return feature;
    return std::nullopt;
}

}  // namespace weir::model
