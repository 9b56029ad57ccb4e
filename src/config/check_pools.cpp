#include "config/check.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

namespace weir::config {

namespace {

// Where each replica was first seen, so that a second use can name it.
using ReplicaOwners = std::unordered_map<std::string, std::string>;

void check_replicas(const Check& check, const Pool& pool, ReplicaOwners& owners) {
    std::unordered_set<std::string_view> own;
    for (std::size_t i = 0; i < pool.replicas.urls.size(); ++i) {
        const auto& url = pool.replicas.urls[i].text;
        if (url.empty()) continue;
        const Path path{"pools", pool.name, "replicas", std::to_string(i)};
        if (!own.insert(url).second) {
            check.refuse(path, "this replica is listed twice: " + url);
            continue;
        }
        const auto [owner, fresh] = owners.try_emplace(url, pool.name);
        if (!fresh)
            check.warn(path, "also a replica of " + owner->second + ": each pool counts only its own load on it");
    }
}

// Methods that an engine does not have. vLLM has all of them; what hides behind `openai` is not known.
bool engine_lacks(Engine engine, SpeculationMethod method) noexcept {
    using M = SpeculationMethod;
    constexpr std::array not_sglang{M::suffix, M::medusa};
    constexpr std::array not_llamacpp{M::suffix, M::medusa, M::eagle};
    switch (engine) {
        case Engine::sglang: return std::ranges::find(not_sglang, method) != not_sglang.end();
        case Engine::llamacpp: return std::ranges::find(not_llamacpp, method) != not_llamacpp.end();
        case Engine::vllm:
        case Engine::openai: return false;
    }
    return false;
}

bool drafts_from_text(SpeculationMethod method) noexcept {
    return method == SpeculationMethod::ngram || method == SpeculationMethod::suffix;
}

void check_speculation(const Check& check, const Pool& pool) {
    const auto& speculation = pool.speculation;
    const auto refuse = [&](const char* key, std::string message) {
        check.refuse({"pools", pool.name, "speculation", key}, std::move(message));
    };
    const auto method = std::string{name_of(speculation.method)};
    const bool draftless = !speculation.active() || drafts_from_text(speculation.method);
    if (draftless && !speculation.draft.empty()) refuse("draft", "method " + method + " has no draft model");
    if (speculation.draft.empty() && !speculation.draft_revision.empty())
        refuse("draft_revision", "there is no draft that it could be a revision of");
    if (speculation.draft.empty() && !speculation.draft_tokenizer_sha256.empty())
        refuse("draft_tokenizer_sha256", "there is no draft that it could belong to");
    if (!speculation.active() && speculation.proposal_length)
        refuse("proposal_length", "method none proposes no tokens");
    if (!speculation.active() && (speculation.lossless == Lossless::no || speculation.lossless == Lossless::declared))
        refuse("lossless", "method none is the target itself; leave the key out");
    if (engine_lacks(pool.engine, speculation.method))
        refuse("method", "the engine " + std::string{name_of(pool.engine)} + " does not have the method " + method);
    const bool tokenizers_known = !pool.target.tokenizer_sha256.empty() && !speculation.draft_tokenizer_sha256.empty();
    if (tokenizers_known && pool.target.tokenizer_sha256 != speculation.draft_tokenizer_sha256)
        check.warn({"pools", pool.name, "speculation", "draft_tokenizer_sha256"},
                   "the draft's tokenizer is not the target's");
}

}  // namespace

void check_pools(const Check& check) {
    std::unordered_set<std::string_view> used;
    for (const auto& alias : check.config.aliases)
        for (const auto& use : alias.pools)
            used.insert(use.pool);
    ReplicaOwners owners;
    for (const auto& pool : check.config.pools) {
        check_replicas(check, pool, owners);
        check_speculation(check, pool);
        if (!used.contains(pool.name)) check.warn({"pools", pool.name}, "no alias uses this pool");
    }
}

}  // namespace weir::config
