#include "auth/key_table.h"

#include <utility>

namespace weir::auth {

KeyLayer::KeyLayer() : keys_{std::make_shared<const KeySet>()}, bindings_{std::make_shared<std::vector<Binding>>()} {}

KeyLayer::KeyLayer(std::shared_ptr<const KeySet> keys, const Binder& binder) : keys_{std::move(keys)} {
    std::vector<Binding> bindings;
    bindings.reserve(keys_->scopes().size());
    for (const auto& scope : keys_->scopes())
        bindings.push_back(binder(scope.view()));
    bindings_ = std::make_shared<const std::vector<Binding>>(std::move(bindings));
}

// No look-up is left out and no failure ends it early: the work does not tell one failure from another.
std::optional<Entry> KeyTable::authenticate(std::string_view presented_secret, base::WallTime now) const {
    static const KeyRecord nobody;
    const auto digest = base::sha256(presented_secret);
    const KeyRecord* record = &nobody;
    const KeyLayer* owner = nullptr;
    for (const auto& layer : layers_) {
        const KeyRecord* found = layer.keys().find(digest);
        const bool first = owner == nullptr && found != nullptr;
        record = first ? found : record;
        owner = first ? &layer : owner;
    }
    const bool alive = record->alive(now);
    if (presented_secret.empty() || owner == nullptr || !alive || !owner->binding_of(*record).usable())
        return std::nullopt;
    const auto& scope = owner->keys().scopes()[record->scope];
    const auto& binding = owner->binding_of(*record);
    return Entry{.tenant = binding.tenant,
                 .caller = {.tenant = scope.tenant,
                            .team = scope.team,
                            .application = scope.application,
                            .workload = binding.workload,
                            .key = std::string{owner->keys().name_of(*record)},
                            .permissions = record->permissions}};
}

}  // namespace weir::auth
