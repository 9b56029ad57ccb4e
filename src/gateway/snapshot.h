// Snapshot: everything a request reads of the configuration, made once and never changed: tables by index, texts ready
// to be sent. A request takes one and keeps it to its end; reload makes a new one. Keys change more often than the
// configuration and are read only at a request's beginning, so they are a table of their own (auth::KeyTable).
// Threads: any, read only. The replica slots inside and what is learnt of prompts are shared between snapshots and
// are all that moves.
#pragma once

#include "base/result.h"
#include "config/config.h"
#include "engine/adapter.h"
#include "http/client.h"
#include "routing/facts.h"
#include "routing/replica_slot.h"
#include "routing/replica_table.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weir::gateway {

struct Replica {
    std::string url;  // its name in records
    http::Origin origin;
    std::shared_ptr<routing::ReplicaSlot> slot;
};

struct Pool {
    const config::Pool* config = nullptr;
    const engine::Adapter* adapter = nullptr;
    routing::PoolFacts facts;
    std::vector<Replica> replicas;
    std::shared_ptr<routing::PromptOverhead> prompts;
    [[nodiscard]] bool any_replica_usable() const noexcept;
};

struct AliasMember {
    std::uint32_t pool = 0;    // index into Snapshot::pools
    std::uint32_t order = 1;
    bool baseline = false;
    bool admitted = false;
    std::string served_model_json;  // the model's name for the engine, as a JSON string

    [[nodiscard]] std::string_view arm() const noexcept { return baseline ? "baseline" : "candidate"; }
};

struct Alias {
    const config::Alias* config = nullptr;
    routing::ContractFacts contract;
    std::vector<AliasMember> members;
    std::string name_json;  // the name as a JSON string
};

struct Tenant {
    const config::Tenant* config = nullptr;
    routing::PolicyFacts policy;
};

struct Snapshot {
    config::Config config;
    std::vector<Pool> pools;
    std::vector<Alias> aliases;
    std::vector<Tenant> tenants;

    // By name or synonym; nullptr = no such alias.
    [[nodiscard]] const Alias* find_alias(std::string_view name) const noexcept;
};

// Errors: invalid_argument (a replica's host is a name: only `control` resolves names, which comes later).
[[nodiscard]] base::Result<std::shared_ptr<const Snapshot>> make_snapshot(config::Config config,
                                                                          routing::ReplicaTable& replicas);

}  // namespace weir::gateway
