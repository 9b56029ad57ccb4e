#include "cli/key_command.h"

#include "auth/secret.h"
#include "base/hex.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/exit_codes.h"
#include "cli/key_report.h"
#include "cli/key_request.h"
#include "config/config.h"
#include "store/sqlite_key_store.h"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace weir::cli {

namespace {

using base::ErrorCode;
using base::Result;

// Long enough for a gateway's batch of records, short enough for a person.
constexpr std::chrono::milliseconds store_patience{5000};

std::string fresh_secret() {
    std::array<std::uint8_t, 32> random{};
    base::fill_secure(random);
    return auth::make_secret(random);
}

std::string fresh_id() {
    std::array<std::uint8_t, 8> random{};
    base::fill_secure(random);
    return "k_" + base::to_hex(random);
}

// One run of the command; each step returns an exit code, or nothing to go on.
class KeyCommand {
public:
    KeyCommand(const KeyOptions& options, const KeyContext& context) : options_{options}, context_{context} {}

    int run() {
        if (const int code = find_store(); code != exit_done) return code;
        switch (options_.action) {
            case KeyAction::create: return create();
            case KeyAction::list: return list();
            case KeyAction::revoke: return revoke();
            case KeyAction::rotate: return rotate();
        }
        std::unreachable();
    }

private:
    int find_store();
    int open_store(bool create);
    int create();
    int list();
    int revoke();
    int rotate();
    Result<ports::StoredKey> find_key();
    std::string near_name();
    bool print_key(const ports::StoredKey& key, std::string_view secret);
    bool write(std::string_view text) {
        return std::fwrite(text.data(), 1, text.size(), context_.out) == text.size() && std::fflush(context_.out) == 0;
    }
    void say(std::string_view text) { fmt::print(context_.err, "weir key: {}\n", text); }
    int fail(int code, std::string_view text) {
        say(text);
        return code;
    }
    int fail(const base::Error& error) {
        return fail(error.code() == ErrorCode::unavailable ? exit_environment : exit_no, error.message());
    }
    [[nodiscard]] bool json() const noexcept { return options_.format == "json"; }

    const KeyOptions& options_;
    const KeyContext& context_;
    std::optional<config::Config> config_;
    std::string path_;
    std::unique_ptr<ports::KeyStore> store_;
};

// From --store, else from the configuration.
int KeyCommand::find_store() {
    if (options_.config_path.empty() && options_.store_url.empty())
        return fail(exit_usage, "give --config FILE, or --store URL");
    if (!options_.config_path.empty()) {
        auto config = config::load(options_.config_path);
        if (!config) {
            fmt::print(context_.err, "{}", config.error().format());
            return fail(exit_no, "the configuration cannot be used; --store URL alone does without it");
        }
        config_ = *std::move(config);
    }
    const auto url = options_.store_url.empty() ? config_->store.url.reveal() : options_.store_url;
    constexpr std::string_view sqlite = "sqlite:";
    if (url.starts_with("postgresql://") || url.starts_with("postgres://"))
        return fail(exit_environment, "PostgreSQL is not supported yet; only sqlite:PATH is");
    if (!url.starts_with(sqlite) || url.size() == sqlite.size())
        return fail(exit_usage, "--store: expected sqlite:PATH or postgresql://…");
    path_ = url.substr(sqlite.size());
    return exit_done;
}

int KeyCommand::open_store(bool create) {
    store::SqliteOptions options{.busy_timeout = store_patience, .create = false};
    auto opened = store::SqliteKeyStore::open(path_, options);
    if (!opened && opened.error().code() == ErrorCode::not_found) {
        const auto where = std::filesystem::absolute(path_).string();
        if (!create)
            return fail(exit_environment, fmt::format("there is no store at {}; weir key create makes one", where));
        options.create = true;
        opened = store::SqliteKeyStore::open(path_, options);
        if (opened) say(fmt::format("made a new store at {}", where));
    }
    if (!opened) return fail(exit_environment, opened.error().message());
    store_ = *std::move(opened);
    return exit_done;
}

int KeyCommand::create() {
    auto key = new_key_of(options_, context_.now);
    if (!key) return fail(exit_usage, key.error().message());
    if (config_) {
        if (const auto fault = fault_in(*key, *config_); !fault.empty()) return fail(exit_no, fault);
    } else {
        say("without --config it cannot be checked that the tenant, team and application exist");
    }
    if (const int code = open_store(true); code != exit_done) return code;
    const auto secret = fresh_secret();
    key->id = fresh_id();
    key->digest = base::sha256(secret);
    if (auto made = store_->create(*key); !made) return fail(made.error());
    const ports::StoredKey stored{.id = key->id,
                                  .tenant = key->tenant,
                                  .name = key->name,
                                  .team = key->team,
                                  .application = key->application,
                                  .workload = key->workload,
                                  .permissions = key->permissions,
                                  .created = key->created,
                                  .changed = key->created,
                                  .expires = key->expires};
    if (!print_key(stored, secret)) {
        // Nobody has the secret, so nobody shall have the key.
        const auto undone = store_->revoke(key->id, context_.now);
        return fail(exit_environment, fmt::format("the secret could not be written to standard output; the key is {}",
                                                  undone ? "revoked" : "to be revoked: weir key revoke " + key->id));
    }
    say(fmt::format("made the key {} of tenant {} (id {}{}); its secret is shown this once, only its digest is kept",
                    key->name, key->tenant, key->id, key->expires ? ", until " + text_of(*key->expires) : ""));
    return exit_done;
}

bool KeyCommand::print_key(const ports::StoredKey& key, std::string_view secret) {
    if (!json()) return write(fmt::format("{}\n", secret));
    base::JsonWriter out;
    out.begin_object();
    write_key_members(out, key, context_.now);
    out.member("secret", secret).end_object();
    return write(std::move(out).take() + "\n");
}

int KeyCommand::list() {
    if (const int code = open_store(false); code != exit_done) return code;
    const auto wanted = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional{text}; };
    std::vector<ports::StoredKey> keys;
    const auto found = store_->find({.id = {},
                                     .name = wanted(options_.name),
                                     .tenant = wanted(options_.tenant),
                                     .team = wanted(options_.team),
                                     .application = wanted(options_.application)},
                                    [&](const ports::StoredKey& key) {
                                        const auto state = name_of(state_of(key, context_.now));
                                        if (options_.state == "all" || options_.state == state) keys.push_back(key);
                                    });
    if (!found) return fail(found.error());
    if (!json()) {
        if (keys.empty()) say("there are no such keys");
        return keys.empty() || write(key_table(keys, context_.now)) ? exit_done : exit_environment;
    }
    base::JsonWriter out;
    out.begin_object().key("items").begin_array();
    for (const auto& key : keys) {
        out.begin_object();
        write_key_members(out, key, context_.now);
        out.end_object();
    }
    out.end_array().end_object();
    return write(std::move(out).take() + "\n") ? exit_done : exit_environment;
}

Result<ports::StoredKey> KeyCommand::find_key() {
    const auto tenant = options_.tenant.empty() ? std::nullopt : std::optional{options_.tenant};
    std::vector<ports::StoredKey> keys;
    const bool by_id = is_key_id(options_.name);
    auto found = store_->find({.id = by_id ? std::optional{options_.name} : std::nullopt,
                               .name = by_id ? std::nullopt : std::optional{options_.name},
                               .tenant = tenant,
                               .team = {},
                               .application = {}},
                              [&](const ports::StoredKey& key) { keys.push_back(key); });
    if (!found) return std::unexpected{std::move(found).error()};
    auto picked = pick_key(keys, context_.now);
    if (picked || picked.error().code() != ErrorCode::not_found) return picked;
    return base::fail(ErrorCode::not_found,
                      fmt::format("there is no key {}{}{}", base::quoted(options_.name),
                                  tenant ? fmt::format(" of tenant {}", base::quoted(*tenant)) : "", near_name()));
}

std::string KeyCommand::near_name() {
    constexpr std::size_t most_compared = 10000;
    std::vector<std::string> names;
    const auto tenant = options_.tenant.empty() ? std::nullopt : std::optional{options_.tenant};
    const auto found = store_->find({.id = {}, .name = {}, .tenant = tenant, .team = {}, .application = {}},
                                    [&](const ports::StoredKey& key) {
                                        if (names.size() < most_compared) names.push_back(key.name);
                                    });
    if (!found) return {};
    const std::vector<std::string_view> views{names.begin(), names.end()};
    return base::suggestion(options_.name, views);
}

int KeyCommand::revoke() {
    if (const int code = open_store(false); code != exit_done) return code;
    auto key = find_key();
    if (!key) return fail(key.error());
    const auto revoked = store_->revoke(key->id, context_.now);
    if (!revoked) return fail(revoked.error());
    if (*revoked) key->revoked = key->changed = context_.now;
    if (*revoked)
        say(fmt::format("revoked the key {} of tenant {} (id {})", key->name, key->tenant, key->id));
    else
        say(fmt::format("the key {} of tenant {} (id {}) was revoked already, at {}", key->name, key->tenant, key->id,
                        text_of(key->revoked.value_or(context_.now))));
    if (!json()) return exit_done;
    base::JsonWriter out;
    out.begin_object();
    write_key_members(out, *key, context_.now);
    out.end_object();
    return write(std::move(out).take() + "\n") ? exit_done : exit_environment;
}

int KeyCommand::rotate() {
    const auto old_until = parse_grace(options_.grace, context_.now);
    if (!old_until)
        return fail(exit_usage,
                    fmt::format("--grace {}: {}", base::quoted(options_.grace), old_until.error().message()));
    if (const int code = open_store(false); code != exit_done) return code;
    auto key = find_key();
    if (!key) return fail(key.error());
    const auto secret = fresh_secret();
    const auto rotated =
        store_->rotate({.id = key->id, .digest = base::sha256(secret), .now = context_.now, .old_until = *old_until});
    if (!rotated) return fail(rotated.error());
    key->changed = context_.now;
    key->previous_until = *old_until;
    if (!print_key(*key, secret))
        return fail(exit_environment,
                    fmt::format("the new secret could not be written to standard output and is lost; rotate again: the "
                                "old one works until {}",
                                text_of(*old_until)));
    say(fmt::format("the key {} of tenant {} (id {}) has a new secret; the old one {}", key->name, key->tenant, key->id,
                    *old_until <= context_.now ? "has ended" : "works until " + text_of(*old_until)));
    return exit_done;
}

}  // namespace

int run_key(const KeyOptions& options, const KeyContext& context) {
    // A reader that is gone is an error of write(), which undoes; it must not end the process in between.
    std::signal(SIGPIPE, SIG_IGN);
    return KeyCommand{options, context}.run();
}

}  // namespace weir::cli
