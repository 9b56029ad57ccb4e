// Feature: a request property that not every pool can honour; one bit each. Source: facts/engines.md section 3,
// contract.md ("features"). Harmless fields (user, metadata, store ...) have no bit: they never affect eligibility.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::model {

enum class Feature : std::uint8_t {
    tools,
    structured_output,
    logprobs,
    prompt_logprobs,
    min_p,
    logit_bias,
    min_tokens,
    penalties,
    multiple_choices,  // n > 1
    best_of,
    echo,
    suffix,
    media,             // image, audio or file parts in the prompt
    reasoning,
    encoding_format,   // embeddings as base64
    dimensions,        // embeddings of another length than the model's own
    tokenize_prompt,   // what is to be tokenized: `prompt`, `messages` or `content`, as engines differ
    tokenize_messages,
    tokenize_content,
};

inline constexpr std::array all_features{Feature::tools,
                                         Feature::structured_output,
                                         Feature::logprobs,
                                         Feature::prompt_logprobs,
                                         Feature::min_p,
                                         Feature::logit_bias,
                                         Feature::min_tokens,
                                         Feature::penalties,
                                         Feature::multiple_choices,
                                         Feature::best_of,
                                         Feature::echo,
                                         Feature::suffix,
                                         Feature::media,
                                         Feature::reasoning,
                                         Feature::encoding_format,
                                         Feature::dimensions,
                                         Feature::tokenize_prompt,
                                         Feature::tokenize_messages,
                                         Feature::tokenize_content};

[[nodiscard]] std::string_view name_of(Feature feature) noexcept;
[[nodiscard]] std::optional<Feature> feature_from_name(std::string_view name) noexcept;

class FeatureSet {
public:
    constexpr void add(Feature feature) noexcept { bits_ |= bit(feature); }
    [[nodiscard]] constexpr bool contains(Feature feature) const noexcept { return (bits_ & bit(feature)) != 0; }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
    // The features in both sets.
    [[nodiscard]] constexpr FeatureSet operator&(FeatureSet other) const noexcept {
        FeatureSet both;
        both.bits_ = bits_ & other.bits_;
        return both;
    }
    friend constexpr bool operator==(FeatureSet, FeatureSet) = default;

private:
    static constexpr std::uint32_t bit(Feature feature) noexcept { return 1U << static_cast<unsigned>(feature); }
    std::uint32_t bits_ = 0;
};

}  // namespace weir::model
