#include "config/pool.h"

#include "config/replica_url.h"
#include "config/tables.h"
#include "config/types.h"

#include <algorithm>
#include <array>

namespace weir::config {

using namespace std::chrono_literals;

std::string_view name_of(Engine engine) noexcept {
    switch (engine) {
        case Engine::vllm: return "vllm";
        case Engine::sglang: return "sglang";
        case Engine::llamacpp: return "llamacpp";
        case Engine::openai: return "openai";
    }
    return "";
}

std::string_view name_of(SpeculationMethod method) noexcept {
    switch (method) {
        case SpeculationMethod::none: return "none";
        case SpeculationMethod::mtp: return "mtp";
        case SpeculationMethod::eagle: return "eagle";
        case SpeculationMethod::eagle3: return "eagle3";
        case SpeculationMethod::dflash: return "dflash";
        case SpeculationMethod::draft_model: return "draft_model";
        case SpeculationMethod::ngram: return "ngram";
        case SpeculationMethod::suffix: return "suffix";
        case SpeculationMethod::medusa: return "medusa";
        case SpeculationMethod::dspark: return "dspark";
        case SpeculationMethod::other: return "other";
    }
    return "";
}

std::string_view name_of(Lossless lossless) noexcept {
    switch (lossless) {
        case Lossless::verified: return "verified";
        case Lossless::declared: return "declared";
        case Lossless::no: return "no";
        case Lossless::unknown: return "unknown";
    }
    return "";
}

std::string_view name_of(OnDrift on_drift) noexcept {
    switch (on_drift) {
        case OnDrift::exclude: return "exclude";
        case OnDrift::serve_unmeasured: return "serve_unmeasured";
        case OnDrift::hold: return "hold";
    }
    return "";
}

OnDrift Pool::on_drift() const noexcept {
    return on_drift_stated.value_or(speculation.active() ? OnDrift::exclude : OnDrift::serve_unmeasured);
}

namespace {

constexpr std::array all_engines{Engine::vllm, Engine::sglang, Engine::llamacpp, Engine::openai};
constexpr std::array all_methods{SpeculationMethod::none,   SpeculationMethod::mtp,    SpeculationMethod::eagle,
                                 SpeculationMethod::eagle3, SpeculationMethod::dflash, SpeculationMethod::draft_model,
                                 SpeculationMethod::ngram,  SpeculationMethod::suffix, SpeculationMethod::medusa,
                                 SpeculationMethod::dspark, SpeculationMethod::other};
constexpr std::array all_lossless{Lossless::verified, Lossless::declared, Lossless::no, Lossless::unknown};
constexpr std::array all_on_drift{OnDrift::exclude, OnDrift::serve_unmeasured, OnDrift::hold};

const Table<Target>& target_table() {
    static const Table<Target> table{
        required(field("model", &Target::model, text(), "The model's name, as the engine serves it.")),
        field("revision", &Target::revision, text(), "Its exact revision, such as a commit."),
        field("tokenizer_sha256", &Target::tokenizer_sha256, sha256_text(), "The SHA-256 of its tokenizer file."),
        field("chat_template_sha256", &Target::chat_template_sha256, sha256_text(),
              "The SHA-256 of its chat template."),
    };
    return table;
}

const Table<Speculation>& speculation_table() {
    using S = Speculation;
    static const Table<S> table{
        required(field("method", &S::method, choice(named_choices(all_methods)),
                       "How tokens are proposed; none is a baseline.")),
        field("draft", &S::draft, text(), "The draft model or head, where the method has one of its own."),
        field("draft_revision", &S::draft_revision, text(), "Its exact revision."),
        field("draft_tokenizer_sha256", &S::draft_tokenizer_sha256, sha256_text(),
              "The SHA-256 of its tokenizer file."),
        field("proposal_length", &S::proposal_length, count({1, 64}), "Tokens proposed per verify step."),
        field("lossless", &S::lossless, choice(named_choices(all_lossless)),
              "Whether the output's distribution is the target's own, and how that is known."),
    };
    return table;
}

const Table<Gpu>& gpu_table() {
    constexpr std::uint64_t gib = 1ULL << 30U;
    static const Table<Gpu> table{
        required(field("type", &Gpu::type, text(), "The accelerator, such as MI300X.")),
        field("gpus_per_replica", &Gpu::gpus_per_replica, number({0.01, 1024}), "How many one replica occupies."),
        field("memory_per_gpu", &Gpu::memory_per_gpu_bytes, size({gib / 4, 4096 * gib}), "The memory of one."),
        field("usd_per_gpu_hour", &Gpu::usd_per_gpu_hour, number({0, 10000}), "The price of one for an hour."),
    };
    return table;
}

const Table<Capabilities>& capabilities_table() {
    static const Table<Capabilities> table{
        field("context", &Capabilities::context_tokens, tokens({1, 100'000'000}),
              "Tokens of prompt and output together."),
        field("endpoints", &Capabilities::endpoints, set_of<model::EndpointSet>(named_choices(model::all_endpoints)),
              "The operations that the engine serves; what its adapter knows when absent."),
        field("streaming", &Capabilities::streaming, boolean(), "Whether streamed responses work."),
        field("deny", &Capabilities::deny, set_of<model::FeatureSet>(named_choices(model::all_features)),
              "Features that are never sent here, whatever the engine says."),
    };
    return table;
}

// It is sent as the value of a header, where a blank or anything that does not print would end or change it.
Type<Secret> bearer_token() {
    auto type = secret();
    type.read = [read = type.read](Reader& reader, const base::Node& node, Secret& out) {
        Secret token;
        if (!read(reader, node, token)) return false;
        if (!std::ranges::all_of(token.reveal(), [](char c) { return c > ' ' && c < '\x7f'; }))
            return reader.refuse(node, "a bearer token has no blanks and nothing but printable ASCII characters");
        out = std::move(token);
        return true;
    };
    return type;
}

const Table<PoolTimeouts>& timeouts_table() {
    static const Table<PoolTimeouts> table{
        field("connect", &PoolTimeouts::connect, duration({1ms, 5min}), "To open a connection to a replica."),
        field("first_token", &PoolTimeouts::first_token, duration({1ms, 24h}), "From the request to the first output."),
        field("idle", &PoolTimeouts::idle, duration({1ms, 24h}), "Between two pieces of one response."),
    };
    return table;
}

const Table<Retries>& retries_table() {
    static const Table<Retries> table{
        field("attempts", &Retries::attempts, count({1, 5}), "Attempts per request in all, the first one included."),
    };
    return table;
}

const Table<Health>& health_table() {
    static const Table<Health> table{
        field("interval", &Health::interval, duration({100ms, 1h}), "Between two probes of a replica."),
    };
    return table;
}

}  // namespace

const Table<Pool>& pool_table() {
    static const Table<Pool> table{
        required(field("engine", &Pool::engine, choice(named_choices(all_engines)),
                       "The inference engine; openai is any other.")),
        required(field("replicas", &Pool::replicas, replicas(), "The engines' addresses.")),
        required(field("family", &Pool::family, name(), "What must be equal for pools to stand behind one alias.")),
        required(field("target", &Pool::target, object(target_table()), "The model that decides.")),
        field("credential", &Pool::credential, bearer_token(),
              "The bearer token for the engines; none is sent when absent."),
        field("region", &Pool::region, name(), "Where the replicas are."),
        field("provides", &Pool::provides, list(name()), "Data policies that hold here."),
        field("speculation", &Pool::speculation, object(speculation_table()),
              "The speculative configuration; none when absent."),
        field("gpu", &Pool::gpu, object(gpu_table()), "The hardware of a replica and its price."),
        field("profiles", &Pool::profiles, list(name()), "Measured capacity profiles; unmeasured when empty."),
        field("max_concurrency_per_replica", &Pool::max_concurrency_per_replica, count({1, 100'000}),
              "Requests at once per replica, where no profile says it."),
        field("capabilities", &Pool::capabilities, object(capabilities_table()), "What the engine can honour."),
        field(
            "on_drift", &Pool::on_drift_stated, choice(named_choices(all_on_drift)),
            "When a replica is not what was measured; default serve_unmeasured without speculation, exclude with it."),
        field("timeouts", &Pool::timeouts, object(timeouts_table()), "How long an engine may take."),
        field("retries", &Pool::retries, object(retries_table()), "How often a request is tried."),
        field("health", &Pool::health, object(health_table()), "How replicas are probed."),
    };
    return table;
}

}  // namespace weir::config
