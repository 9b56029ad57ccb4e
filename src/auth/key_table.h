// KeyTable: which caller a presented secret belongs to: what workers read. Only SHA-256 digests of secrets are kept.
// Invariant: immutable, so any thread may read; the cost of a look-up does not grow with the number of keys. All
// failures look alike: absent, unknown, revoked, expired and unusable keys give the same answer after the same work.
#pragma once

#include "auth/key_set.h"
#include "base/time.h"
#include "model/caller.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::auth {

// What the configuration makes of a scope.
struct Binding {
    static constexpr std::uint32_t no_tenant = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t tenant = no_tenant;  // index of the tenant in the owner's tables; opaque here
    std::string workload;              // the key's own, or the application's
    [[nodiscard]] bool usable() const noexcept { return tenant != no_tenant; }
};

// A scope the configuration does not know (any more) gets an unusable binding.
using Binder = std::function<Binding(const model::KeyScope& scope)>;

// A caller who is who he says he is. Its texts are views of the table's keys.
struct Entry {
    std::uint32_t tenant = 0;  // as the binding says
    model::Caller caller;
};

// Some of a table's keys, with what the configuration says of their scopes.
class KeyLayer {
public:
    KeyLayer();  // empty
    KeyLayer(std::shared_ptr<const KeySet> keys, const Binder& binder);
    [[nodiscard]] const KeySet& keys() const noexcept { return *keys_; }
    [[nodiscard]] const std::shared_ptr<const KeySet>& shared_keys() const noexcept { return keys_; }
    [[nodiscard]] const Binding& binding_of(const KeyRecord& record) const noexcept {
        return (*bindings_)[record.scope];
    }
    // Whoever presents the secret of this record, one of keys().
    [[nodiscard]] Entry entry_of(const KeyRecord& record) const;

private:
    std::shared_ptr<const KeySet> keys_;
    std::shared_ptr<const std::vector<Binding>> bindings_;  // one for each of the set's scopes
};

class KeyTable {
public:
    // The keys of the configuration, what changed in the store, what the store had before. The first that has a
    // digest decides.
    using Layers = std::array<KeyLayer, 3>;

    KeyTable() = default;  // knows nobody
    explicit KeyTable(Layers layers) noexcept : layers_{std::move(layers)} {}

    // nullopt = not a valid key at `now`; an absent or malformed key is asked for as "".
    [[nodiscard]] std::optional<Entry> authenticate(std::string_view presented_secret, base::WallTime now) const;
    // The two halves of authenticate(): where a secret's key is, known or not, and who it is at `now`.
    struct Place {
        const KeyRecord* record = nullptr;  // of nobody, when the secret is unknown
        const KeyLayer* layer = nullptr;    // nullptr = unknown
    };
    [[nodiscard]] Place find(std::string_view presented_secret) const;
    [[nodiscard]] static std::optional<Entry> entry_at(const Place& place, base::WallTime now);
    [[nodiscard]] const Layers& layers() const noexcept { return layers_; }

private:
    Layers layers_;
};

}  // namespace weir::auth
