#include "engine/capabilities.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

namespace weir::engine {

namespace {

using config::Engine;
using config::SpeculationMethod;
using model::Feature;
using routing::Capability;

class Methods {
public:
    constexpr Methods(std::initializer_list<SpeculationMethod> methods) noexcept {
        for (const SpeculationMethod method : methods)
            bits_ |= 1U << static_cast<unsigned>(method);
    }
    [[nodiscard]] constexpr bool contains(SpeculationMethod method) const noexcept {
        return (bits_ >> static_cast<unsigned>(method) & 1U) != 0;
    }

private:
    std::uint32_t bits_ = 0;
};

constexpr Methods speculating{SpeculationMethod::mtp,    SpeculationMethod::eagle,       SpeculationMethod::eagle3,
                              SpeculationMethod::dflash, SpeculationMethod::draft_model, SpeculationMethod::ngram,
                              SpeculationMethod::suffix, SpeculationMethod::medusa,      SpeculationMethod::dspark,
                              SpeculationMethod::other};
constexpr Methods mtp{SpeculationMethod::mtp};
constexpr Methods every_method{SpeculationMethod::none,   SpeculationMethod::mtp,    SpeculationMethod::eagle,
                               SpeculationMethod::eagle3, SpeculationMethod::dflash, SpeculationMethod::draft_model,
                               SpeculationMethod::ngram,  SpeculationMethod::suffix, SpeculationMethod::medusa,
                               SpeculationMethod::dspark, SpeculationMethod::other};
// SGLang's NEXTN is its EAGLE with the model's own MTP layers.
constexpr Methods eagle_like{SpeculationMethod::mtp, SpeculationMethod::eagle, SpeculationMethod::eagle3};

constexpr Version first{0, 0, 0};
constexpr Version open_end{UINT32_MAX, 0, 0};  // holds in the newest version known

struct Row {
    Feature feature{};
    Methods methods;
    Version from;
    Version before;
    Capability capability{};
    std::string_view evidence;
};

// vLLM V1, facts/engines.md 3.1. Features without a row are unknown under speculation: `tools`, because streaming tool
// parsers lost or cut calls when one event carried several tokens (#41967, #38271, #53638) and no version ends that.
constexpr std::array vllm_rows{
    Row{Feature::min_p, speculating, first, {0, 14, 0}, Capability::ignored, "ignored with a warning before v0.14"},
    Row{Feature::min_p, speculating, {0, 14, 0}, open_end, Capability::rejected, "400 since vllm#31982"},
    Row{Feature::logit_bias,
        speculating,
        first,
        {0, 14, 0},
        Capability::ignored,
        "ignored with a warning before v0.14"},
    Row{Feature::logit_bias, speculating, {0, 14, 0}, open_end, Capability::rejected, "400 since vllm#31982"},
    Row{Feature::min_tokens, speculating, {0, 14, 0}, {0, 17, 0}, Capability::rejected, "400 in v0.14 to v0.16"},
    Row{Feature::min_tokens, speculating, {0, 17, 0}, open_end, Capability::ok, "vllm#32642"},
    Row{Feature::penalties, speculating, first, {0, 14, 0}, Capability::degraded, "not speculated up to v0.13"},
    Row{Feature::penalties, speculating, {0, 14, 0}, open_end, Capability::ok, "vllm#26586, #33251"},
    Row{Feature::logprobs, speculating, first, {0, 11, 1}, Capability::degraded, "not speculated in early V1"},
    Row{Feature::logprobs, speculating, {0, 11, 1}, open_end, Capability::ok, "vllm#26060, #29223"},
    Row{Feature::prompt_logprobs, mtp, {0, 26, 0}, open_end, Capability::wrong, "vllm#53488, open"},
    Row{Feature::structured_output, speculating, {0, 14, 0}, open_end, Capability::ok, "vllm#29821, #30916"},
    Row{Feature::multiple_choices, speculating, first, open_end, Capability::ok, "works, without statistics"},
    Row{Feature::best_of, speculating, first, open_end, Capability::rejected, "documented as not supported"},
    Row{Feature::media, eagle_like, first, open_end, Capability::degraded, "drafter text-only in places"},
    Row{Feature::reasoning, speculating, {0, 21, 0}, open_end, Capability::ok, "vllm#34668"},
    Row{Feature::tokenize_content, every_method, first, open_end, Capability::rejected, "`prompt` or `messages`"},
};

// SGLang 0.5.15, facts/engines.md 3.2.
constexpr std::array sglang_rows{
    Row{Feature::min_p, eagle_like, first, open_end, Capability::ignored, "not applied in the verify path"},
    Row{Feature::penalties, speculating, first, open_end, Capability::degraded, "applied once a verify step"},
    Row{Feature::logit_bias, speculating, first, open_end, Capability::ok, "applied"},
    Row{Feature::logprobs, eagle_like, {0, 5, 15}, open_end, Capability::ok, "sglang#19801"},
    Row{Feature::structured_output, eagle_like, {0, 5, 0}, open_end, Capability::ok, "sglang#6499"},
    Row{Feature::encoding_format, every_method, first, open_end, Capability::ignored, "always lists of numbers"},
    Row{Feature::tokenize_messages, every_method, first, open_end, Capability::rejected, "`prompt` is required"},
    Row{Feature::tokenize_content, every_method, first, open_end, Capability::rejected, "`prompt` is required"},
};

// llama.cpp, facts/engines.md 3.3 and facts/llamacpp-wire.md. The rows for every method are not about speculation: the
// server has never known these parameters. Unknown members are accepted and ignored; three have a refusal of their own.
constexpr std::array llamacpp_rows{
    Row{Feature::prompt_logprobs, every_method, first, open_end, Capability::ignored, "unknown members are ignored"},
    Row{Feature::min_tokens, every_method, first, open_end, Capability::ignored, "unknown members are ignored"},
    Row{Feature::echo, every_method, first, open_end, Capability::rejected, "refused by the server"},
    Row{Feature::best_of, every_method, first, open_end, Capability::rejected, "refused by the server"},
    Row{Feature::suffix, every_method, first, open_end, Capability::rejected, "refused by the server"},
    Row{Feature::dimensions, every_method, first, open_end, Capability::ignored, "unknown members are ignored"},
    // Without `content` the answer is an empty list of tokens, not an error.
    Row{Feature::tokenize_prompt, every_method, first, open_end, Capability::ignored, "`content` is read, only"},
    Row{Feature::tokenize_messages, every_method, first, open_end, Capability::ignored, "`content` is read, only"},
    Row{Feature::logprobs, speculating, first, open_end, Capability::wrong,
        "llama.cpp#27972: 0.0 for speculated tokens"},
    Row{Feature::media, speculating, first, open_end, Capability::rejected, "image embeddings throw"},
    Row{Feature::min_p, speculating, first, open_end, Capability::ok, "sampled by the target"},
    Row{Feature::logit_bias, speculating, first, open_end, Capability::ok, "sampled by the target"},
    Row{Feature::penalties, speculating, first, open_end, Capability::ok, "sampled by the target"},
    Row{Feature::structured_output, speculating, first, open_end, Capability::ok, "grammar at the target"},
    Row{Feature::tools, speculating, first, open_end, Capability::ok, "recorded on b10587"},
    Row{Feature::reasoning, speculating, first, open_end, Capability::ok, "recorded on b10587"},
    Row{Feature::multiple_choices, speculating, first, open_end, Capability::degraded, "usage covers one choice"},
};

bool excludes(Capability capability) noexcept {
    return capability == Capability::rejected || capability == Capability::ignored || capability == Capability::wrong;
}

bool applies(const Row& row, const EngineIdentity& identity, Feature feature) noexcept {
    if (row.feature != feature || !row.methods.contains(identity.method)) return false;
    if (identity.version.has_value()) return *identity.version >= row.from && *identity.version < row.before;
    // Without a version, what holds in all of them holds, and what excludes in the newest is believed.
    return row.before == open_end && (row.from == first || excludes(row.capability));
}

template <std::size_t Size>
const Row* find(const std::array<Row, Size>& rows, const EngineIdentity& identity, Feature feature) noexcept {
    const auto found = std::ranges::find_if(rows, [&](const Row& row) { return applies(row, identity, feature); });
    return found == rows.end() ? nullptr : &*found;
}

const Row* find(const EngineIdentity& identity, Feature feature) noexcept {
    switch (identity.engine) {
        case Engine::vllm: return find(vllm_rows, identity, feature);
        case Engine::sglang: return find(sglang_rows, identity, feature);
        case Engine::llamacpp: return find(llamacpp_rows, identity, feature);
        case Engine::openai: return nullptr;  // which engine it is, is not known
    }
    return nullptr;
}

}  // namespace

CapabilityEvidence capability_of(const EngineIdentity& identity, Feature feature) noexcept {
    if (const Row* row = find(identity, feature); row != nullptr)
        return {.capability = row->capability, .evidence = row->evidence};
    const bool speculates = identity.method != SpeculationMethod::none;
    return {.capability = speculates ? Capability::unknown : Capability::ok, .evidence = {}};
}

routing::Capabilities capabilities_of(const EngineIdentity& identity) noexcept {
    routing::Capabilities capabilities;
    for (const Feature feature : model::all_features)
        capabilities.set(feature, capability_of(identity, feature).capability);
    return capabilities;
}

}  // namespace weir::engine
