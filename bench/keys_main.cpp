// weir-bench-keys: what one look-up of a key costs, by the number of keys and by how it ends. Prints nanoseconds; under
// callgrind, with collection toggled by the function look_up_all, the instructions can be read:
//   valgrind --tool=callgrind --toggle-collect='*look_up_all*' weir-bench-keys --keys 1000000 --answer revoked
#include "auth/key_registry.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace weir;

constexpr base::WallTime now{std::chrono::sys_days{std::chrono::year{2027} / 1 / 1}};
constexpr auto answers = {"found", "unknown", "revoked", "expired", "absent"};

// As long as the secrets that `weir key` makes.
std::string secret_of(std::size_t number) { return fmt::format("weir_{:049}", number); }

struct Options {
    std::size_t keys = 1000;
    std::size_t look_ups = 20000;
    std::string answer = "found";
};

// Behind the living keys, whatever is asked for: as many expired ones and as many revoked ones, at most this many.
std::size_t dead_keys(const Options& options) { return std::min<std::size_t>(options.keys, 1000); }

auth::KeyRegistry registry_of(const Options& options) {
    const std::size_t living = options.keys;
    const std::size_t dead = dead_keys(options);
    auth::KeySetBuilder stored;
    auth::KeySetBuilder changes;
    for (std::size_t i = 0; i < living + 2 * dead; ++i) {
        const auto name = fmt::format("key-{}", i);
        const model::KeyRow row{.digest = base::sha256(secret_of(i)),
                                .name = name,
                                .scope = {.tenant = "acme", .team = "search", .application = "box"},
                                .expires = i >= living ? std::optional{now} : std::nullopt,
                                .revoked = i >= living + dead};
        (row.revoked ? changes : stored).add(row);
    }
    auth::KeyRegistry registry;
    registry.configure({}, [](const model::KeyScope&) { return auth::Binding{.tenant = 0}; });
    registry.replace_stored(std::move(stored).build().value());
    if (!registry.change_stored(std::move(changes).build().value())) std::abort();
    return registry;
}

[[gnu::noinline]] std::size_t look_up_all(const auth::KeyTable& table, const std::vector<std::string>& secrets,
                                          std::size_t times) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < times; ++i)
        found += table.authenticate(secrets[i % secrets.size()], now).has_value() ? 1U : 0U;
    return found;
}

std::vector<std::string> secrets_for(const Options& options) {
    if (options.answer == "absent") return {""};
    const std::size_t dead = dead_keys(options);
    const std::size_t first = options.answer == "expired"   ? options.keys
                              : options.answer == "revoked" ? options.keys + dead
                              : options.answer == "unknown" ? options.keys + 2 * dead
                                                            : 0;
    const std::size_t of = options.answer == "found" ? options.keys : dead;
    std::vector<std::string> secrets;
    for (std::size_t i = 0; i < std::min<std::size_t>(of, 10000); ++i)
        secrets.push_back(secret_of(first + i * 7919 % of));  // spread over them
    return secrets;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"What one look-up of a key costs."};
    Options options;
    app.add_option("--keys", options.keys, "How many keys there are")->check(CLI::PositiveNumber);
    app.add_option("--look-ups", options.look_ups, "How many are looked up")->check(CLI::PositiveNumber);
    app.add_option("--answer", options.answer, "How each look-up ends")->check(CLI::IsMember(answers));
    CLI11_PARSE(app, argc, argv);
    const auto registry = registry_of(options);
    const auto secrets = secrets_for(options);
    const auto began = std::chrono::steady_clock::now();
    const std::size_t found = look_up_all(*registry.table(), secrets, options.look_ups);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - began;
    std::size_t bytes = 0;
    for (const auto& layer : registry.table()->layers())
        bytes += layer.keys().bytes();
    fmt::print("{{\"keys\":{},\"answer\":\"{}\",\"found\":{},\"ns_per_look_up\":{:.0f},\"bytes_per_key\":{:.1f}}}\n",
               options.keys, options.answer, found, spent.count() / static_cast<double>(options.look_ups),
               static_cast<double>(bytes) / static_cast<double>(options.keys));
    return 0;
}
