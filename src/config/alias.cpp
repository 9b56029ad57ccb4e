#include "config/alias.h"

#include "config/tables.h"
#include "config/types.h"

namespace weir::config {

using namespace std::chrono_literals;

namespace {

const Table<Objective>& objective_table() {
    const auto latency = duration({1us, 24h});
    static const Table<Objective> table{
        field("ttft_p95", &Objective::ttft_p95, latency, "The 95th percentile of the time to first token."),
        field("tpot_p95", &Objective::tpot_p95, latency, "The 95th percentile of the time per output token."),
        field("e2e_p95", &Objective::e2e_p95, latency, "The 95th percentile of the whole request."),
        field("error_rate", &Objective::error_rate, percent(), "The share of requests that may fail."),
    };
    return table;
}

const Table<PoolUse>& pool_use_table() {
    static const Table<PoolUse> table{
        required(field("pool", &PoolUse::pool, name(), "The pool's name.")),
        field("order", &PoolUse::order, count({1, 1000}),
              "Equal orders are one candidate set; lower ones are used first."),
        field("admitted", &PoolUse::admitted, boolean(), "Whether a speculative pool serves without a rollout."),
        field("served_model", &PoolUse::served_model, text(), "The model's name at the engine; default target.model."),
    };
    return table;
}

// A bare name is short for {pool: NAME}.
Type<PoolUse> pool_use() {
    const auto bare = name();
    const auto full = object(pool_use_table());
    const auto read = [bare, full](Reader& reader, const base::Node& node, PoolUse& out) {
        return node.is_scalar() ? bare.read(reader, node, out.pool) : full.read(reader, node, out);
    };
    const auto schema = [bare, full](base::JsonWriter& json) {
        json.key("anyOf").begin_array().begin_object();
        bare.schema(json);
        json.end_object().begin_object();
        full.schema(json);
        json.end_object().end_array();
    };
    return {.read = read, .schema = schema, .show = full.show};
}

}  // namespace

const Table<Alias>& alias_table() {
    static const Table<Alias> table{
        field("names", &Alias::synonyms, list(name()), "Other names that clients may call it."),
        required(field("family", &Alias::family, name(), "The model family that clients get.")),
        required(field("endpoints", &Alias::endpoints, set_of<model::EndpointSet>(named_choices(model::all_endpoints)),
                       "The operations that clients may call.")),
        field("context", &Alias::context_tokens, tokens({1, 100'000'000}), "Tokens of prompt and output together."),
        field("streaming", &Alias::streaming, boolean(), "Whether streamed responses are promised."),
        field("features", &Alias::features, set_of<model::FeatureSet>(named_choices(model::all_features)),
              "Request features that are promised."),
        field("require_lossless", &Alias::require_lossless, boolean(),
              "Only pools whose output has the target's distribution."),
        field("allow_unmeasured", &Alias::allow_unmeasured, boolean(),
              "Whether pools without a measured profile may serve."),
        field("regions", &Alias::regions, list(name()), "Regions in which it may be served; any when empty."),
        field("requires_data_policies", &Alias::requires_data_policies, list(name()),
              "Data policies that its pools must provide."),
        field("objective", &Alias::objective, object(objective_table()), "The service level that is aimed at."),
        field("client_timeout", &Alias::client_timeout, duration({1ms, 24h}),
              "The total deadline; a client may shorten its own."),
        field("limits", &Alias::limits, object(limits_table()), "Limits of all callers together."),
        required(field("pools", &Alias::pools, list(pool_use()), "The pools behind it.")),
        field("baseline", &Alias::baseline, name(),
              "The pool without speculation; required as soon as one pool speculates."),
    };
    return table;
}

}  // namespace weir::config
