#include "gateway/snapshot.h"

#include "engine/capabilities.h"
#include "gateway/splice.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::gateway {

namespace {

using base::ErrorCode;
using base::Result;

routing::Lossless lossless_of(config::Lossless lossless) {
    switch (lossless) {
        case config::Lossless::verified: return routing::Lossless::verified;
        case config::Lossless::declared: return routing::Lossless::declared;
        case config::Lossless::no: return routing::Lossless::no;
        case config::Lossless::unknown: return routing::Lossless::unknown;
    }
    return routing::Lossless::unknown;
}

routing::PoolFacts facts_of(const config::Pool& pool, const engine::Adapter& adapter) {
    return {.name = pool.name,
            .family = pool.family,
            .endpoints = pool.capabilities.endpoints.value_or(adapter.endpoints),
            .streaming = pool.capabilities.streaming,
            .capabilities = engine::capabilities_of(
                {.engine = pool.engine, .version = std::nullopt, .method = pool.speculation.method}),
            .denied = pool.capabilities.deny,
            .context_tokens = pool.capabilities.context_tokens,
            .region = pool.region,
            .provides = pool.provides,
            .speculative = pool.speculation.active(),
            .lossless = lossless_of(pool.speculation.lossless),
            .measured = !pool.profiles.empty()};
}

// Everything that decides how many tokens the pool makes of a prompt.
std::string prompt_identity(const config::Pool& pool) {
    const auto& target = pool.target;
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", pool.name, config::name_of(pool.engine), target.model, target.revision,
                       target.tokenizer_sha256, target.chat_template_sha256);
}

Result<Pool> make_pool(const config::Pool& config, routing::ReplicaTable& replicas) {
    Pool pool{.config = &config,
              .adapter = &engine::adapter_for(config.engine),
              .facts = {},
              .replicas = {},
              .prompts = replicas.prompts(prompt_identity(config))};
    pool.facts = facts_of(config, *pool.adapter);
    if (config.replicas.dns)
        return base::fail(
            ErrorCode::invalid_argument,
            fmt::format("pools.{}.replicas: {{dns: …}} is not supported yet; list the replicas' addresses",
                        config.name));
    for (const auto& url : config.replicas.urls) {
        auto address = io::SocketAddress::parse(url.address.host, url.address.port);
        if (!address)
            return std::unexpected{
                std::move(address).error().within(fmt::format("pools.{}.replicas: {}", config.name, url.text))};
        pool.replicas.push_back({.url = url.text,
                                 .origin = {.address = *address, .authority = base::format_host_port(url.address)},
                                 .slot = replicas.slot(config.name, url.text)});
    }
    return pool;
}

std::uint32_t index_of_pool(const config::Config& config, std::string_view name) {
    return static_cast<std::uint32_t>(config.pools.find(name) - config.pools.items().data());
}

Alias make_alias(const config::Config& config, const config::Alias& from) {
    Alias alias{.config = &from, .contract = {}, .members = {}, .name_json = json_string(from.name)};
    alias.contract = {.family = from.family,
                      .promised = from.features,
                      .context_tokens = from.context_tokens,
                      .require_lossless = from.require_lossless,
                      .allow_unmeasured = from.allow_unmeasured,
                      .policy = {.regions = from.regions, .data_policies = from.requires_data_policies}};
    for (const auto& use : from.pools) {
        const auto index = index_of_pool(config, use.pool);
        const auto& pool = config.pools[index];
        alias.members.push_back(
            {.pool = index,
             .order = use.order,
                                 // Where nothing speculates every pool is a baseline.
             .baseline = from.baseline == use.pool || !pool.speculation.active(),
             .admitted = use.admitted,
             .served_model_json = json_string(use.served_model.empty() ? pool.target.model : use.served_model)});
    }
    return alias;
}

}  // namespace

bool Pool::any_replica_usable() const noexcept {
    return std::ranges::any_of(replicas, [](const Replica& replica) { return replica.slot->usable(); });
}

const Alias* Snapshot::find_alias(std::string_view name) const noexcept {
    const auto* found = config.aliases.find(name);
    return found == nullptr ? nullptr : &aliases[static_cast<std::size_t>(found - config.aliases.items().data())];
}

Result<std::shared_ptr<const Snapshot>> make_snapshot(config::Config config, routing::ReplicaTable& replicas) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->config = std::move(config);
    const auto& owned = snapshot->config;
    for (const auto& pool : owned.pools) {
        auto made = make_pool(pool, replicas);
        if (!made) return std::unexpected{std::move(made).error()};
        snapshot->pools.push_back(*std::move(made));
    }
    for (const auto& alias : owned.aliases)
        snapshot->aliases.push_back(make_alias(owned, alias));
    for (const auto& tenant : owned.tenants)
        snapshot->tenants.push_back(
            {.config = &tenant, .policy = {.regions = tenant.regions, .data_policies = tenant.requires_data_policies}});
    return std::shared_ptr<const Snapshot>{std::move(snapshot)};
}

}  // namespace weir::gateway
