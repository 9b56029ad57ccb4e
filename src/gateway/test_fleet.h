// A small fleet for tests: a valid default of two pools behind one alias and one tenant with one key; a test states
// only the difference. Unlike a configuration file it is not checked, so it can hold what `weir check` refuses.
#pragma once

#include "gateway/caller_keys.h"
#include "gateway/worker.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace weir::gateway::testing {

struct Fleet {
    config::Pool plain = pool("plain", 1);  // the baseline
    config::Pool odd = pool("odd", 2);      // what tests change
    config::PoolUse plain_use{.pool = "plain"};
    config::PoolUse odd_use{.pool = "odd"};
    config::Alias alias = chat();
    config::Tenant tenant = acme();
    config::ServerLimits limits{};

    static config::Pool pool(const std::string& name, std::uint16_t port) {
        config::Pool made;
        made.name = name;
        made.engine = config::Engine::llamacpp;
        add_replica(made, port);
        made.family = "f";
        made.target.model = "m";
        made.region = "eu";
        return made;
    }
    static void add_replica(config::Pool& pool, std::uint16_t port) {
        pool.replicas.urls.push_back(
            {.text = "http://127.0.0.1:" + std::to_string(port), .address = {.host = "127.0.0.1", .port = port}});
    }
    static config::Alias chat() {
        config::Alias made;
        made.name = "chat";
        made.family = "f";
        made.endpoints.add(model::Endpoint::chat_completions);
        made.baseline = "plain";
        return made;
    }
    static config::Key key(const std::string& name) {
        config::Key made;
        made.name = name;
        made.sha256 = base::sha256(name);
        return made;
    }
    static config::Tenant acme() {
        config::Tenant made;
        made.name = "acme";
        made.keys.push_back(key("one"));
        return made;
    }

    [[nodiscard]] config::Config config() const {
        config::Config made;
        made.version_hash = "0123456789ab";
        made.server.limits = limits;
        made.pools.add(plain);
        made.pools.add(odd);
        auto with_pools = alias;
        with_pools.pools = {plain_use, odd_use};
        made.aliases.add(std::move(with_pools));
        made.tenants.add(tenant);
        return made;
    }
    [[nodiscard]] Tables tables() const { return tables_of(config()); }
    static Tables tables_of(config::Config config) {
        routing::ReplicaTable replicas;  // only remembers: the slots live with the snapshot
        auto keys = configured_keys(config);
        auto made = make_snapshot(std::move(config), replicas);
        EXPECT_TRUE(keys && made);
        const auth::KeyLayer layer{std::make_shared<const auth::KeySet>(*std::move(keys)), key_binder(*made)};
        return {.snapshot = *made, .keys = std::make_shared<const auth::KeyTable>(auth::KeyTable::Layers{layer})};
    }
};

}  // namespace weir::gateway::testing
