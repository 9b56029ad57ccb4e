// KeyRegistry: builds the tables that workers read, out of the configuration's keys and the store's.
// A change costs as much as the changes since the last merge, not as much as all keys; when they have become many they
// are merged, here, never on a worker. A table that was replaced is freed here too, once nobody reads it.
// Threads: one at a time; the owner locks.
#pragma once

#include "auth/key_table.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace weir::auth {

class KeyRegistry {
public:
    using Table = std::shared_ptr<const KeyTable>;
    using Binder = auth::Binder;

    // From now on the configuration has these keys and knows the scopes that `binder` knows.
    void configure(KeySet keys, Binder binder);
    // What the store has, all of it.
    void replace_stored(KeySet keys);
    // What changed in the store since; dead records take keys away. Errors: too_large; then nothing has changed.
    [[nodiscard]] base::Status change_stored(const KeySet& changes);

    // Never null. Of the last configure(), replace_stored() or change_stored().
    [[nodiscard]] const Table& table() const noexcept { return table_; }
    // Frees what was replaced and is read by nobody any more.
    void free_unread();
    [[nodiscard]] std::size_t stored_keys() const noexcept;  // those taken away and not yet merged counted too
    // Scopes of the store's keys that the configuration does not know, each once.
    [[nodiscard]] std::vector<Scope> unusable_scopes() const;

private:
    void publish();

    Binder binder_ = [](const model::KeyScope&) { return Binding{}; };
    KeyTable::Layers layers_;
    Table table_ = std::make_shared<const KeyTable>();
    std::vector<Table> replaced_;
};

}  // namespace weir::auth
