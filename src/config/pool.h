// A pool as configured: replicas that serve one target model in one configuration.
#pragma once

#include "base/time.h"
#include "base/units.h"
#include "config/secret.h"
#include "model/endpoint.h"
#include "model/feature.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

enum class Engine : std::uint8_t { vllm, sglang, llamacpp, openai };
enum class SpeculationMethod : std::uint8_t {
    none,
    mtp,
    eagle,
    eagle3,
    dflash,
    draft_model,
    ngram,
    suffix,
    medusa,
    dspark,
    other
};
enum class Lossless : std::uint8_t { verified, declared, no, unknown };
enum class OnDrift : std::uint8_t { exclude, serve_unmeasured, hold };
[[nodiscard]] std::string_view name_of(Engine engine) noexcept;
[[nodiscard]] std::string_view name_of(SpeculationMethod method) noexcept;
[[nodiscard]] std::string_view name_of(Lossless lossless) noexcept;
[[nodiscard]] std::string_view name_of(OnDrift on_drift) noexcept;

// An engine's address; plain HTTP only. Also the replica's name in records: "http://10.0.0.1:8000".
struct ReplicaUrl {
    std::string text;  // canonical: lower-case host, always with port, no slash at the end
    base::HostPort address;
};

// Either addresses, or one name of which every resolved address is a replica.
struct Replicas {
    std::vector<ReplicaUrl> urls;
    std::optional<ReplicaUrl> dns;
};

struct Target {
    std::string model;
    std::string revision;              // "" = not stated
    std::string tokenizer_sha256;      // lower-case hex; "" = not stated
    std::string chat_template_sha256;  // lower-case hex; "" = not stated
};

struct Speculation {
    SpeculationMethod method = SpeculationMethod::none;
    std::string draft;                         // model; "" = not stated
    std::string draft_revision;                // "" = not stated
    std::string draft_tokenizer_sha256;        // "" = not stated
    std::optional<std::uint32_t> proposal_length;  // tokens per verify step
    Lossless lossless = Lossless::unknown;
    [[nodiscard]] bool active() const noexcept { return method != SpeculationMethod::none; }
};

struct Gpu {
    std::string type;
    double gpus_per_replica = 1;
    std::optional<std::uint64_t> memory_per_gpu_bytes;
    std::optional<double> usd_per_gpu_hour;
};

struct Capabilities {
    std::optional<std::uint64_t> context_tokens;       // not stated = what the engine tells
    std::optional<model::EndpointSet> endpoints;       // not stated = what the engine's adapter knows
    bool streaming = true;
    model::FeatureSet deny;                            // never sent here, whatever the engine says
};

struct PoolTimeouts {
    base::Nanoseconds connect{std::chrono::seconds{2}};
    base::Nanoseconds first_token{std::chrono::seconds{120}};
    base::Nanoseconds idle{std::chrono::seconds{60}};  // between two pieces of one response
};

struct Retries {
    std::uint32_t attempts = 2;  // in all, the first one included
};

struct Health {
    base::Nanoseconds interval{std::chrono::seconds{5}};
};

struct Pool {
    std::string name;
    Engine engine = Engine::vllm;
    Replicas replicas;
    std::string family;
    Target target;
    Secret credential;                  // empty = none is sent
    std::string region;                 // "" = not stated
    std::vector<std::string> provides;  // data policies
    Speculation speculation;
    std::optional<Gpu> gpu;
    std::vector<std::string> profiles;  // empty = unmeasured
    std::optional<std::uint32_t> max_concurrency_per_replica;  // used where no profile supplies it
    Capabilities capabilities;
    std::optional<OnDrift> on_drift_stated;
    PoolTimeouts timeouts;
    Retries retries;
    Health health;

    // As stated, else: serve_unmeasured without speculation, exclude with it.
    [[nodiscard]] OnDrift on_drift() const noexcept;
};

}  // namespace weir::config
