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

Entry KeyLayer::entry_of(const KeyRecord& record) const {
    const auto& scope = keys_->scopes()[record.scope];
    const auto& binding = binding_of(record);
    return {.tenant = binding.tenant,
            .caller = {.tenant = scope.tenant,
                       .team = scope.team,
                       .application = scope.application,
                       .workload = binding.workload,
                       .key = keys_->name_of(record),
                       .permissions = record.permissions}};
}

// No look-up is left out and no failure ends it early: the work does not tell one failure from another.
KeyTable::Place KeyTable::find(std::string_view presented_secret) const {
    static const KeyRecord nobody;
    const auto digest = base::sha256(presented_secret);
    Place place{.record = &nobody};
    for (const auto& layer : layers_) {
        const KeyRecord* found = layer.keys().find(digest);
        const bool first = place.layer == nullptr && found != nullptr;
        place.record = first ? found : place.record;
        place.layer = first ? &layer : place.layer;
    }
    return place;
}

std::optional<Entry> KeyTable::entry_at(const Place& place, base::WallTime now) {
    const auto& [record, layer] = place;
    const bool alive = record->alive(now);
    if (layer == nullptr || !alive || !layer->binding_of(*record).usable()) return std::nullopt;
    return layer->entry_of(*record);
}

std::optional<Entry> KeyTable::authenticate(std::string_view presented_secret, base::WallTime now) const {
    auto entry = entry_at(find(presented_secret), now);
    return presented_secret.empty() ? std::nullopt : entry;
}

}  // namespace weir::auth
