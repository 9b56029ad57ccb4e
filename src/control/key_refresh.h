// KeyRefresh: keeps the keys that workers read in step with the configuration and the store.
// Invariant: tables are published in the order of what they are made of, each once; while the store cannot be read
// the last good keys stay, and that is said once. Threads: any; calls wait for one another, none waits for a worker.
#pragma once

#include "auth/key_registry.h"
#include "base/result.h"
#include "ports/key_store.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace weir::control {

struct KeyRefreshHooks {
    std::function<base::Result<std::unique_ptr<ports::KeyFeed>>()> open_feed;
    std::function<void(std::string_view)> report;  // for the operator's log
};

class KeyRefresh {
public:
    using Publish = std::function<void(auth::KeyRegistry::Table)>;

    explicit KeyRefresh(KeyRefreshHooks hooks) : hooks_{std::move(hooks)} {}

    // At start: the configuration's keys and all of the store's. Errors: those of the feed.
    [[nodiscard]] base::Result<auth::KeyRegistry::Table> load(auth::KeySet configured,
                                                              auth::KeyRegistry::Binder binder);
    // Where later tables go: called by refresh() and reconfigure(), one at a time.
    void publish_to(Publish publish);
    // Reload. `publish` is called in place of the usual one, so that the table goes out together with what it fits.
    void reconfigure(auth::KeySet configured, auth::KeyRegistry::Binder binder, const Publish& publish);
    // Looks for changes in the store and publishes them.
    void refresh();

private:
    [[nodiscard]] base::Status look();
    [[nodiscard]] base::Status read_all();
    [[nodiscard]] base::Status read_changes();
    void warn_of_unusable_keys();

    std::mutex mutex_;
    KeyRefreshHooks hooks_;
    Publish publish_;
    auth::KeyRegistry registry_;
    std::unique_ptr<ports::KeyFeed> feed_;
    std::int64_t version_ = 0;  // of the store's changes that registry_ has; 0 = none at all
    bool all_read_ = false;  // from the feed that is open
    bool failing_ = false;
    std::vector<auth::Scope> warned_;  // of what the operator has been told that it cannot be used
};

}  // namespace weir::control
