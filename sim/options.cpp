#include "sim/options.h"

#include "base/node.h"
#include "base/text.h"
#include "base/yaml.h"
#include "engine_model/presets.h"
#include "sim/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::sim {
namespace {

using base::Document;
using base::ErrorCode;
using base::fail;
using base::Node;
using base::Problems;
using base::Result;
using base::Status;

Result<std::string> read_text(const Node& node) {
    if (!node.is_scalar())
        return fail(ErrorCode::invalid_argument, fmt::format("must be a value, not {}", describe(node.kind())));
    return node.text();
}

template <class T>
Status read_integer(const Node& node, T& into) {
    const auto number = base::parse_integer(node.text());
    if (!number) return std::unexpected{number.error()};
    if (!std::in_range<T>(*number)) return fail(ErrorCode::invalid_argument, "is out of range");
    into = static_cast<T>(*number);
    return {};
}

Status read_number(const Node& node, double& into) {
    const auto number = base::parse_number(node.text());
    if (!number) return std::unexpected{number.error()};
    into = *number;
    return {};
}

Status read_duration(const Node& node, base::Nanoseconds& into) {
    const auto span = base::parse_duration(node.text());
    if (!span) return std::unexpected{span.error()};
    into = *span;
    return {};
}

Status read_rates(const Node& node, std::vector<double>& into) {
    if (!node.is_sequence()) return fail(ErrorCode::invalid_argument, "must be a list of rates, one for each position");
    into.clear();
    for (const auto& item : node.children())
        if (auto status = read_number(item, into.emplace_back()); !status) return status;
    return {};
}

Status read_flag(const Node& node, bool& into) {
    if (node.text() != "true" && node.text() != "false")
        return fail(ErrorCode::invalid_argument, "must be true or false");
    into = node.text() == "true";
    return {};
}

Status read_listen(const Node& node, base::HostPort& into) {
    auto address = base::parse_host_port(node.text());
    if (!address) return std::unexpected{std::move(address).error()};
    into = *std::move(address);
    return {};
}

Status read_string(const Node& node, std::string& into) {
    auto text = read_text(node);
    if (!text) return std::unexpected{std::move(text).error()};
    into = *std::move(text);
    return {};
}

struct Key {
    std::string_view name;
    std::function<Status(const Node&, Options&)> read;
};

const std::vector<Key>& top_keys() {
    static const std::vector<Key> keys{
        {"listen", [](const Node& node, Options& o) { return read_listen(node, o.listen); }},
        {"preset", [](const Node&, Options&) { return Status{}; }},  // read before everything else
        {"as", [](const Node& node, Options& o) { return read_string(node, o.imitates); }},
        {"model", [](const Node& node, Options& o) { return read_string(node, o.model); }},
        {"seed", [](const Node& node, Options& o) { return read_integer(node, o.seed); }},
        {"api_key", [](const Node& node, Options& o) { return read_string(node, o.api_key); }},
        {"engine", [](const Node&, Options&) { return Status{}; }},  // has keys of its own
    };
    return keys;
}

const std::vector<Key>& engine_keys() {
    static const std::vector<Key> keys{
        {"max_running", [](const Node& n, Options& o) { return read_integer(n, o.engine.max_running); }},
        {"step_token_budget", [](const Node& n, Options& o) { return read_integer(n, o.engine.step_token_budget); }},
        {"context_tokens", [](const Node& n, Options& o) { return read_integer(n, o.engine.context_tokens); }},
        {"block_tokens", [](const Node& n, Options& o) { return read_integer(n, o.engine.block_tokens); }},
        {"kv_blocks", [](const Node& n, Options& o) { return read_integer(n, o.engine.kv_blocks); }},
        {"position_acceptance",
         [](const Node& n, Options& o) { return read_rates(n, o.engine.speculation.position_acceptance); }},
        {"spread", [](const Node& n, Options& o) { return read_number(n, o.engine.speculation.spread); }},
        {"parallel_draft", [](const Node& n, Options& o) { return read_flag(n, o.engine.speculation.parallel_draft); }},
        {"launch", [](const Node& n, Options& o) { return read_duration(n, o.engine.cost.launch); }},
        {"weights", [](const Node& n, Options& o) { return read_duration(n, o.engine.cost.weights); }},
        {"kv_ns_per_token", [](const Node& n, Options& o) { return read_number(n, o.engine.cost.kv_ns_per_token); }},
        {"compute_ns_per_token",
         [](const Node& n, Options& o) { return read_number(n, o.engine.cost.compute_ns_per_token); }},
        {"verify_overhead", [](const Node& n, Options& o) { return read_duration(n, o.engine.cost.verify_overhead); }},
        {"draft_launch", [](const Node& n, Options& o) { return read_duration(n, o.engine.cost.draft_launch); }},
        {"draft_ns_per_token",
         [](const Node& n, Options& o) { return read_number(n, o.engine.cost.draft_ns_per_token); }},
    };
    return keys;
}

void read_keys(const Document& document, const Node& map, const std::vector<Key>& keys, Options& options,
               Problems& problems) {
    if (!map.is_map()) {
        if (!map.is_null()) problems.add(document.problem_at(map, "must be a map"));
        return;
    }
    std::vector<std::string_view> names;
    names.reserve(keys.size());
    for (const auto& key : keys)
        names.push_back(key.name);
    for (const auto& node : map.children()) {
        const auto key = std::ranges::find(keys, node.key(), &Key::name);
        if (key == keys.end()) {
            problems.add(document.problem_at_key(node, "unknown key" + base::suggestion(node.key(), names)));
        } else if (const auto status = key->read(node, options); !status) {
            problems.add(document.problem_at(node, status.error().message()));
        }
    }
}

std::string preset_names() {
    std::string names;
    for (const auto& preset : engine_model::presets())
        names += fmt::format("{}{}", names.empty() ? "" : ", ", preset.name);
    return names;
}

// The version behind "vllm:", as the engine itself would write it.
std::string version_of(std::string_view imitates) {
    const auto version = imitates.substr(imitates.find(':') + 1);
    return std::ranges::count(version, '.') < 2 ? fmt::format("{}.0", version) : std::string{version};
}

bool is_plain_name(std::string_view name) {
    return !name.empty() && name.size() <= 200 && base::is_valid_utf8(name) && std::ranges::none_of(name, [](char c) {
        return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
    });
}

}  // namespace

Result<Options> options_of_preset(const std::string& preset) {
    const auto* const found = engine_model::find_preset(preset);
    if (found == nullptr)
        return fail(ErrorCode::not_found,
                    fmt::format("there is no preset {}; there are {}", base::quoted(preset), preset_names()));
    Options options;
    options.preset = preset;
    options.model = found->model;
    options.engine = found->parameters;
    return options;
}

Options options_of_file(std::string_view text, const std::string& file, Problems& problems) {
    auto options = *options_of_preset("baseline");
    const auto document = base::parse_yaml(text, file, problems);
    if (!document) return options;
    const auto& root = document->root();
    if (const auto* const preset = root.find("preset"); preset != nullptr) {
        auto chosen = options_of_preset(preset->text());
        if (chosen)
            options = *std::move(chosen);
        else
            problems.add(document->problem_at(*preset, chosen.error().message()));
    }
    read_keys(*document, root, top_keys(), options, problems);
    if (const auto* const engine = root.find("engine"); engine != nullptr)
        read_keys(*document, *engine, engine_keys(), options, problems);
    return options;
}

Status check(const Options& options) {
    constexpr std::string_view known_engine = "vllm:";
    const auto& imitates = options.imitates;
    const bool digits = std::ranges::all_of(imitates.substr(std::min(known_engine.size(), imitates.size())),
                                            [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
    if (!imitates.starts_with(known_engine) || imitates.size() == known_engine.size() || imitates.size() > 32 ||
        !digits)
        return fail(ErrorCode::invalid_argument,
                    fmt::format("as: cannot imitate {}; it is written vllm:0.22", base::quoted(imitates)));
    if (!is_plain_name(options.model))
        return fail(ErrorCode::invalid_argument,
                    "model: must be 1 to 200 bytes without quotes, backslashes and control characters");
    auto status = engine_model::check(options.engine);
    if (!status) return std::unexpected{std::move(status).error().within("engine")};
    return {};
}

ServedModel served_model(const Options& options) {
    const auto version = version_of(options.imitates);
    // Like a real engine's, it covers what shapes the computation but not the proposal length.
    const auto hash = hash_text(
        fmt::format("{} {} {}", options.model, options.engine.speculation.enabled(), options.engine.context_tokens));
    return {.name = options.model,
            .version = version,
            .fingerprint = fmt::format("vllm-{}-weir-sim-{:08x}", version, hash & 0xFFFFFFFFU),
            .context_tokens = options.engine.context_tokens,
            .speculating = options.engine.speculation.enabled(),
            .seed = options.seed};
}

}  // namespace weir::sim
