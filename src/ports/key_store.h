// KeyStore: where the keys that `weir key` makes live; KeyFeed: how a running gateway learns of them.
// Invariant: only digests of secrets are kept; a live key's name is the only one of its tenant; nothing is ever
// half done. Adapters; all calls block. Threads: one at a time for each object; several processes at once are fine.
#pragma once

#include "base/result.h"
#include "base/sha256.h"
#include "base/time.h"
#include "model/caller.h"
#include "model/key_row.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace weir::ports {

struct NewKey {
    std::string id;  // unique for ever
    std::string tenant;
    std::string name;
    std::string team;         // "" = none
    std::string application;  // "" = none
    std::string workload;     // "" = the application's
    model::PermissionSet permissions;
    base::Sha256Digest digest{};
    base::WallTime created;
    std::optional<base::WallTime> expires;  // the first moment at which it no longer works
};

// Times are whole seconds.
struct StoredKey {
    std::string id;
    std::string tenant;
    std::string name;
    std::string team;
    std::string application;
    std::string workload;
    model::PermissionSet permissions;
    base::WallTime created;
    base::WallTime changed;  // created, rotated or revoked
    std::optional<base::WallTime> expires;
    std::optional<base::WallTime> revoked;
    std::optional<base::WallTime> previous_until;  // until when the secret before the last rotation works
};

enum class KeyState : std::uint8_t { active, expired, revoked };

[[nodiscard]] inline KeyState state_of(const StoredKey& key, base::WallTime now) noexcept {
    if (key.revoked) return KeyState::revoked;
    return key.expires && *key.expires <= now ? KeyState::expired : KeyState::active;
}

struct KeyFilter {
    std::optional<std::string> id;
    std::optional<std::string> name;
    std::optional<std::string> tenant;
    std::optional<std::string> team;
    std::optional<std::string> application;
};

struct Rotation {
    std::string id;
    base::Sha256Digest digest{};  // of the new secret
    base::WallTime now;
    base::WallTime old_until;  // every older secret ends then, or when it would have
};

class KeyStore {
public:
    virtual ~KeyStore() = default;
    // Errors: invalid_argument (the tenant has a live key of that name), unavailable.
    [[nodiscard]] virtual base::Status create(const NewKey& key) = 0;
    // Ordered by tenant, name and time of creation. Errors: unavailable.
    [[nodiscard]] virtual base::Status find(const KeyFilter& filter,
                                            const std::function<void(const StoredKey&)>& found) = 0;
    // False = it was revoked before, and that stays. Errors: not_found, unavailable.
    [[nodiscard]] virtual base::Result<bool> revoke(const std::string& id, base::WallTime now) = 0;
    // Errors: not_found, invalid_argument (revoked or expired), unavailable.
    [[nodiscard]] virtual base::Status rotate(const Rotation& rotation) = 0;
};

class KeyFeed {
public:
    virtual ~KeyFeed() = default;
    // Grows with every change of a key; an older copy's may be less. 0, once, when another store is behind it from then
    // on: everything is to be read again. Cheap. Errors: unavailable.
    [[nodiscard]] virtual base::Result<std::int64_t> version() = 0;
    // Every secret of every key that was changed after that version; 0 = every secret that may still work.
    // The version up to which that is. Errors: unavailable; then rows that were handed over are to be forgotten.
    [[nodiscard]] virtual base::Result<std::int64_t> read(std::int64_t after,
                                                          const std::function<void(const model::KeyRow&)>& row) = 0;
};

}  // namespace weir::ports
